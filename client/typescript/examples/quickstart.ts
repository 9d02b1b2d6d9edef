// Tunes on a CSV file with a rule for an oracle. Run it with: node quickstart.js HOST:PORT ROWS.csv SEED
// It prints one JSON line: gamma, C, and how far outside the first three rows are.
import { readFile } from "node:fs/promises";

import { readCsv, SvddtuneError } from "../src/index.js";
import { connect } from "../src/node.js";

const [address = "", file = "", seed = ""] = process.argv.slice(2);
const client = connect(address);
try {
  const table = readCsv(await readFile(file, "utf8"), "id");
  const dataset = await client.upload(table);
  const session = await client.createSession(dataset.name, { budget: 20, seed: BigInt(seed) });

  const [latency, errors] = ["latency_ms", "errors"].map((name) => dataset.featureNames.indexOf(name));
  let answered = 0;
  await client.label(
    {
      name: "quickstart",
      sessions: [session.name],
      onAck: () => console.error(`answered ${++answered}`),
    },
    async ({ features }) => (features[latency!]! > 300 || features[errors!]! > 5 ? "outlier" : "inlier"),
  );
  const result = await client.result(session.name);
  const scores = (await client.score(result.name, table.rows.slice(0, 3))).map(({ distance }) => distance);
  console.log(JSON.stringify({ gamma: result.gamma, c: result.c, scores }));
} catch (error) {
  console.error(error instanceof SvddtuneError ? error.message : error);
  process.exitCode = 1;
} finally {
  client.close();
}
