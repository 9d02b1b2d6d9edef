// Builds the console into the folder given: node build.mjs FOLDER
// The same sources give the same bytes, so a test can build again and compare.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
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
await build({
  entryPoints: {
    console: join(here, 'src/main.tsx'),
    reader: join(here, 'src/pages/create/file/worker.ts'),
  },
  outdir: folder,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  jsxImportSource: 'preact',
  legalComments: 'linked',
  logLevel: 'warning',
});
for (const name of ['index.html', 'icon.svg']) {
  writeFileSync(join(folder, name), readFileSync(join(here, name)));
}
writeFileSync(join(folder, 'sources.sha256'), `${digest()}\n`);
