/** Reads files as the page Create does, and prints what it makes of them: one line of JSON each.
 * The arguments are JSON lists: [path, form, roles or null, scaled].
 */
import { readFileSync } from 'node:fs';
import { judged, proposals } from '../../console/src/pages/create/file/choice';
import { encoded } from '../../console/src/pages/create/file/encode';
import { Refusal } from '../../console/src/pages/create/file/refusal';
import { readTable } from '../../console/src/pages/create/file/table';
import { columnVerdicts } from '../../console/src/pages/create/file/verdicts';

for (const given of process.argv.slice(2)) {
  const [path, form, roles, scaled, labels] = JSON.parse(given);
  const told: Record<string, unknown> = {};
  const refusing = async (part: string, work: () => Promise<unknown> | unknown) => {
    try {
      told[part] = await work();
    } catch (fault) {
      if (!(fault instanceof Refusal)) throw fault;
      told[part] = { refused: fault.reason, message: fault.message };
    }
  };
  await refusing('read', async () => {
    const table = await readTable(path, new Blob([readFileSync(path)]), form);
    const proposed = proposals(table);
    const chosen = roles
      ? table.names.map((_, i) => roles[i] ?? 'feature')
      : proposed.columns.map((one) => one.proposed);
    const judgement = judged(table, chosen, scaled);
    told['judged'] = judgement;
    if (!judgement.refusal) {
      await refusing('encoded', async () => {
        const { header, chunks } = encoded(table, chosen);
        return { header, chunks: await Promise.all(chunks.map((one) => one.line.text())) };
      });
    }
    if (labels) await refusing('labels', () => Object.fromEntries(columnVerdicts(table, labels[0], labels[1])));
    const { names, hasNames, delimiter, decimal, rowCount, lines } = table;
    return { names, hasNames, delimiter, decimal, rowCount, lines: [...lines.slice(0, 5)], roles: chosen, offered: proposed.columns.filter((one) => one.labels).map((one) => one.position) };
  });
  console.log(JSON.stringify(told));
}
