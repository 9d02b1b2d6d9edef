// The TypeScript client's program for the conformance suite, whose README says what it does:
//   node conformance.js label ADDRESS SESSION LABELER CREDIT
//   node conformance.js vectors FILE
import { readFile } from "node:fs/promises";
import { setTimeout } from "node:timers/promises";

import { fromBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";

import { StatusSchema } from "../src/gen/google/rpc/status_pb.js";
import { Ack_Disposition, type Decide, FinishReason, fromStatus, type Labeler, matrix, SvddtuneError } from "../src/index.js";
import { connect, type ConnectOptions, tokenFile } from "../src/node.js";

const tell = (values: object) => console.log(JSON.stringify(values));
const codeOf = ({ code }: SvddtuneError) => Code[code].replace(/\B[A-Z]/g, "_$&").toUpperCase();

/** The rule of the suite. */
const decide: Decide = async ({ features: [score = 0, waitSeconds = 0] }, signal) => {
  if (waitSeconds > 0) await setTimeout(1000 * waitSeconds, undefined, { signal });
  if (score < -1) return "release";
  if (score < 0) return { skip: "others" };
  return score > 0.5 ? "outlier" : "inlier";
};

/** What the environment has to connect with. */
async function access(): Promise<ConnectOptions> {
  const { SVDDTUNE_TOKEN_FILE, SVDDTUNE_TLS_CA, SVDDTUNE_CLIENT_CERT, SVDDTUNE_CLIENT_KEY } = process.env;
  const [ca, cert, key] = await Promise.all(
    [SVDDTUNE_TLS_CA, SVDDTUNE_CLIENT_CERT, SVDDTUNE_CLIENT_KEY].map((file) => file && readFile(file)),
  );
  return {
    ...(SVDDTUNE_TOKEN_FILE && { token: tokenFile(SVDDTUNE_TOKEN_FILE) }),
    ...(ca && { tls: { ca, ...(cert && key && { cert, key }) } }),
  };
}

async function label(address = "", session = "", name = "", credit = ""): Promise<void> {
  let close = () => {};
  const labeler = {
    name,
    sessions: [session],
    credit: Number(credit),
    onAck: ({ query }, { disposition }) =>
      tell({ event: "acked", query, applied: disposition === Ack_Disposition.APPLIED }),
    onReject: ({ query }, { reason }) => tell({ event: "rejected", query, reason }),
    onFinished: (_, reason) => tell({ event: "finished", reason: `FINISH_REASON_${FinishReason[reason]}` }),
  } satisfies Labeler;
  try {
    const client = connect(address, await access());
    close = client.close;
    await client.label(labeler, decide);
  } catch (error) {
    if (!(error instanceof SvddtuneError)) throw error;
    tell({ event: "error", code: codeOf(error), reason: error.reason });
  } finally {
    close();
  }
}

interface Vector {
  name: string;
  kind: string;
  rows: number[][];
  details_bin: string;
}

async function vectors(path = ""): Promise<void> {
  const file: { vectors: Vector[] } = JSON.parse(await readFile(path, "utf8"));
  for (const { name, kind, rows, details_bin } of file.vectors) {
    if (kind === "matrix") tell({ name, matrix: Buffer.from(matrix(rows).values).toString("base64") });
    if (kind === "status") {
      const error = fromStatus(fromBinary(StatusSchema, Buffer.from(details_bin, "base64")));
      tell({ name, ...shown(error) });
    }
  }
}

/** What an error holds. */
function shown(error: SvddtuneError): object {
  const violations = error.violations.map(({ field }) => field);
  return {
    code: codeOf(error),
    reason: error.reason,
    message: error.sentence,
    ...(Object.keys(error.metadata).length > 0 && { metadata: error.metadata }),
    ...(violations.length > 0 && { violations }),
    ...(error.retryAfterMs > 0 && { retry_after_seconds: error.retryAfterMs / 1000 }),
  };
}

const [command, ...rest] = process.argv.slice(2);
if (command === "label") await label(...rest);
else if (command === "vectors") await vectors(...rest);
else throw new Error("usage: conformance.js label ADDRESS SESSION LABELER CREDIT | vectors FILE");
