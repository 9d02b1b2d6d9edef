// Builds the console into the folder given: node build.mjs FOLDER
// The same sources give the same bytes, so a test can build again and compare.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'esbuild';

const [folder] = process.argv.slice(2);
const here = import.meta.dirname;

/** The files that decide what is built, as paths from this folder. */
function sources() {
  const found = readdirSync(join(here, 'src'), { recursive: true, withFileTypes: true })
    .filter((one) => one.isFile() && !one.name.endsWith('.gen.ts'))
    .map((one) => join(one.parentPath, one.name).slice(here.length + 1));
  return ['build.mjs', 'icon.svg', 'index.html', 'package-lock.json', ...found].sort();
}

/** SHA-256 over names and contents, as tests/console/test_assets.py computes it. */
function digest() {
  const hash = createHash('sha256');
  for (const name of sources()) {
    hash.update(`${name}\n`).update(readFileSync(join(here, name))).update('\0');
  }
  return hash.digest('hex');
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
const common = {
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  logLevel: 'warning',
};
const main = { console: join(here, 'src/main.tsx') };
// Each page is a file of its own, which is loaded when the page is first shown.
const { metafile } = await build({
  ...common,
  entryPoints: main,
  splitting: true,
  chunkNames: 'part-[hash]',
  loader: { '.css': 'empty' },
  metafile: true,
});
// The styles of all pages are one small file.
const { outputFiles } = await build({ ...common, entryPoints: main, write: false });
for (const { path, contents } of outputFiles) if (path.endsWith('.css')) writeFileSync(path, contents);
await build({ ...common, entryPoints: { reader: join(here, 'src/pages/create/file/worker.ts') } });

/** What the first script imports is fetched beside it, rather than after it. */
function preloads() {
  const [, { imports }] = Object.entries(metafile.outputs).find(([path]) => path.endsWith('/console.js'));
  return imports
    .filter(({ kind }) => kind === 'import-statement')
    .map(({ path }) => `<link rel="modulepreload" href="/assets/${basename(path)}">\n    `)
    .join('');
}

const page = readFileSync(join(here, 'index.html'), 'utf8');
writeFileSync(join(folder, 'index.html'), page.replace('<script ', `${preloads()}<script `));
writeFileSync(join(folder, 'icon.svg'), readFileSync(join(here, 'icon.svg')));
writeFileSync(join(folder, 'sources.sha256'), `${digest()}\n`);
