import assert from "node:assert/strict";
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { test } from "node:test";

import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";

import { ErrorInfoSchema } from "../src/gen/google/rpc/error_details_pb.js";
import {
  type ConverseRequest,
  type ConverseResponseSchema,
  type Decide,
  FinishReason,
  type Labeler,
  OracleService,
  SvddtuneError,
} from "../src/index.js";
import { connect } from "../src/node.js";

const SESSION = "sessions/p00-one";

type Said = MessageInitShape<typeof ConverseResponseSchema>;
/** The server's side of one stream. */
type Stream = (hear: () => Promise<ConverseRequest>) => AsyncIterable<Said>;

const welcome: Said = {
  message: { case: "welcome", value: { resumeToken: "token", heartbeatSeconds: 20, protocolVersion: 1 } },
};
const assign = (query: number, leaseId: string): Said => ({
  message: { case: "assign", value: { session: SESSION, query, leaseId } },
});
const ack = ({ requestId }: ConverseRequest): Said => ({
  message: { case: "ack", value: { session: SESSION, requestId } },
});
const finished: Said = {
  message: { case: "finished", value: { session: { name: SESSION }, reason: FinishReason.BUDGET_SPENT } },
};

function refusal(code: Code, reason: string): ConnectError {
  const info = { desc: ErrorInfoSchema, value: { reason, metadata: { session: SESSION } } };
  return new ConnectError("refused", code, undefined, [info]);
}

/** Plays the streams of a server, one after the other, to a labeler. */
async function label(decide: Decide, streams: Stream[], further: Partial<Labeler> = {}): Promise<void> {
  const left = [...streams];
  const routes = (router: ConnectRouter) =>
    router.rpc(OracleService.method.converse, async function* (requests) {
      const heard = requests[Symbol.asyncIterator]();
      const stream = left.shift();
      if (!stream) throw new ConnectError("the script has no further stream", Code.FailedPrecondition);
      yield* stream(async () => {
        const next = await heard.next();
        assert(!next.done, "the client ended the stream");
        return next.value;
      });
    });
  const server = createServer(connectNodeAdapter({ routes }));
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const client = connect(`127.0.0.1:${(server.address() as AddressInfo).port}`);
  try {
    await client.label({ name: "rule", sessions: [SESSION], ...further }, decide, AbortSignal.timeout(20_000));
    assert.equal(left.length, 0);
  } finally {
    client.close();
    server.close();
  }
}

test("an answer without Ack is sent again with the same id", async () => {
  let first: ConverseRequest["message"] | undefined;
  await label(async () => "outlier", [
    async function* (hear) {
      await hear();
      yield welcome;
      yield assign(1, "lease");
      first = (await hear()).message;
      throw new ConnectError("gone", Code.Unavailable);
    },
    async function* (hear) {
      const hello = await hear();
      assert(hello.message.case === "hello" && hello.message.value.resumeToken === "token");
      yield welcome;
      const again = await hear();
      assert(again.message.case === "answer" && again.message.value.answerId !== "");
      assert.deepEqual(again.message, first);
      yield ack(again);
      yield finished;
      assert.equal((await hear()).message.case, "bye");
    },
  ]);
});

test("a drained stream is replaced and leases are kept", async () => {
  let decided = () => {};
  const waiting = new Promise<void>((resolve) => (decided = resolve));
  const slow: Decide = async (_, signal) => {
    await waiting;
    signal.throwIfAborted();
    return { verdict: "inlier", confidence: 0.9 };
  };
  await label(slow, [
    async function* (hear) {
      await hear();
      yield welcome;
      yield assign(1, "lease");
      yield { message: { case: "drain", value: {} } };
      await assert.rejects(hear(), /ended the stream/);
    },
    async function* (hear) {
      await hear();
      yield welcome;
      const extend = await hear();
      assert(extend.message.case === "extend");
      assert.deepEqual(extend.message.value.leaseIds, ["lease"]);
      decided();
      const answer = await hear();
      assert(answer.message.case === "answer" && answer.message.value.confidence === 0.9);
      yield ack(answer);
      yield finished;
      assert.equal((await hear()).message.case, "bye");
    },
  ]);
});

test("a Reject leaves the stream open", async () => {
  const refused: string[] = [];
  const reject = ({ requestId }: ConverseRequest): Said => ({
    message: { case: "reject", value: { requestId, status: { code: Code.FailedPrecondition, message: "no" } } },
  });
  await label(
    async ({ query }) => (query === 1 ? "unsure" : { skip: "others" }),
    [
      async function* (hear) {
        await hear();
        yield welcome;
        yield assign(1, "one");
        yield reject(await hear());
        yield assign(2, "two");
        const skip = await hear();
        assert.equal(skip.message.case, "skip");
        yield ack(skip);
        yield finished;
        assert.equal((await hear()).message.case, "bye");
      },
    ],
    { onReject: (_, error) => refused.push(error.message) },
  );
  assert.deepEqual(refused, ["no [FailedPrecondition]"]);
});

test("a revoked query aborts its signal and gets no answer", async () => {
  const decide: Decide = async ({ query }, signal) => {
    if (query === 1) await new Promise((resolve) => signal.addEventListener("abort", resolve));
    return "unsure";
  };
  await label(decide, [
    async function* (hear) {
      await hear();
      yield welcome;
      yield assign(1, "one");
      yield { message: { case: "revoke", value: { session: SESSION, query: 1, leaseId: "one" } } };
      yield assign(2, "two");
      const answer = await hear();
      assert(answer.message.case === "answer" && answer.message.value.query === 2);
      yield ack(answer);
      yield finished;
      assert.equal((await hear()).message.case, "bye");
    },
  ]);
});

test("an error of the caller's function says Bye and is thrown", async () => {
  const broken = new Error("the sensor is broken");
  const ended = label(
    async () => {
      throw broken;
    },
    [
      async function* (hear) {
        await hear();
        yield welcome;
        yield assign(1, "lease");
        assert.equal((await hear()).message.case, "bye");
      },
    ],
  );
  await assert.rejects(ended, broken);
});

test("an error that another attempt cannot mend has its reason", async () => {
  const ended = label(async () => "inlier", [
    async function* (hear) {
      await hear();
      throw refusal(Code.NotFound, "SESSION_NOT_FOUND");
    },
  ]);
  await assert.rejects(ended, (error: unknown) => {
    assert(error instanceof SvddtuneError);
    assert.equal(error.code, Code.NotFound);
    assert.equal(error.reason, "SESSION_NOT_FOUND");
    assert.equal(error.metadata["session"], SESSION);
    return true;
  });
});
