import assert from "node:assert/strict";
import { test } from "node:test";

import { create } from "@bufbuild/protobuf";

import { DatasetHeaderSchema, readCsv, SvddtuneError } from "../src/index.js";
import { uploadMessages } from "../src/table.js";

test("a CSV file's id column is kept apart", () => {
  assert.deepEqual(readCsv('cpu,id,errors\n0.25,a,1\n1e-3,"b,c",2\n', "id"), {
    names: ["cpu", "errors"],
    rows: [
      [0.25, 1],
      [0.001, 2],
    ],
    ids: ["a", "b,c"],
  });
});

test("a faulty CSV file is refused with its place", () => {
  const faults: [string, RegExp][] = [
    ["cpu\n1\n", /no column "id"/],
    ["id,cpu\na,1\nb,fast", /row 2, column "cpu": "fast"/],
    ["id,cpu\na,\n", /row 1, column "cpu": ""/],
    ["id,cpu\na,1,2\n", /malformed/],
  ];
  for (const [text, place] of faults) {
    assert.throws(
      () => readCsv(text, "id"),
      (error) => error instanceof SvddtuneError && error.reason === "INVALID_FIELD" && place.test(error.message),
    );
  }
});

test("an upload continues with the first row that has not arrived", async () => {
  const header = create(DatasetHeaderSchema, { observationCount: 3, featureCount: 2 });
  const rows = [
    [0, 0],
    [1, 2],
    [-0.5, 0],
  ];
  const [first, second] = await collect(uploadMessages(header, { rows }, 1));
  assert.equal(first?.part?.case, "header");
  assert(second?.part?.case === "chunk");
  assert.equal(second.part.value.firstRow, 1);
  const values = second.part.value.rows?.values;
  assert.deepEqual([...new Float64Array(values!.buffer)], [1, 2, -0.5, 0]);
});

async function collect<T>(messages: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = [];
  for await (const message of messages) all.push(message);
  return all;
}
