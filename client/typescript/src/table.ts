import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { parse } from "csv-parse/sync";

import { invalid } from "./errors.js";
import { type Matrix, MatrixSchema } from "./gen/svddtune/v1/common_pb.js";
import { type DatasetHeader, UploadDatasetRequestSchema } from "./gen/svddtune/v1/dataset_pb.js";

// Messages of an upload stay below 1 MiB.
const CHUNK_BYTES = 900_000;

/** A dataset before it is uploaded. */
export interface Table {
  /** The names of the columns, if they have any. */
  names?: readonly string[];
  /** One value for each column. */
  rows: readonly (readonly number[])[];
  /** The ids of the rows, unique. Without them the numbers of the rows are their ids. */
  ids?: readonly string[];
  /** A name for people. */
  displayName?: string;
}

/**
 * Reads a table whose first line names the columns. The column `idColumn`, if it is given, holds the ids
 * of the rows; all others hold numbers.
 */
export function readCsv(text: string, idColumn?: string): Table {
  let lines: string[][];
  try {
    lines = parse(text, { bom: true, skip_empty_lines: true });
  } catch (cause) {
    throw invalid(`the CSV file is malformed: ${(cause as Error).message}`);
  }
  const [header = [], ...body] = lines;
  const idAt = idColumn === undefined ? -1 : header.indexOf(idColumn);
  if (idColumn !== undefined && idAt < 0) {
    throw invalid(`the CSV file has no column "${idColumn}"; it has ${header.join(", ")}`);
  }
  const rows = body.map((line, index) =>
    line.flatMap((value, column) => (column === idAt ? [] : [number(value, index, header[column])])),
  );
  const names = header.filter((_, column) => column !== idAt);
  return idAt < 0 ? { names, rows } : { names, rows, ids: body.map((line) => line[idAt] ?? "") };
}

function number(text: string, row: number, column = ""): number {
  const value = Number(text);
  if (text.trim() === "" || Number.isNaN(value)) {
    throw invalid(`row ${row + 1}, column "${column}": "${text}" is not a number`);
  }
  return value;
}

/** The messages that upload a table, from row `first` on. */
export async function* uploadMessages(
  header: DatasetHeader,
  { rows, ids }: Table,
  first: number,
): AsyncIterable<MessageInitShape<typeof UploadDatasetRequestSchema>> {
  yield { part: { case: "header", value: header } };
  const columns = header.featureCount;
  const step = Math.max(1, Math.floor(CHUNK_BYTES / (8 * columns + 256)));
  for (let from = first; from < rows.length; from += step) {
    const chunk = {
      rows: matrix(rows.slice(from, from + step)),
      firstRow: from,
      observationIds: ids?.slice(from, from + step) ?? [],
    };
    yield { part: { case: "chunk", value: chunk } };
  }
}

/** The rows, which are of equal length, as the messages hold them. */
export function matrix(rows: readonly (readonly number[])[]): Matrix {
  const columns = rows[0]?.length ?? 0;
  const values = new DataView(new ArrayBuffer(8 * columns * rows.length));
  rows.flat().forEach((value, index) => values.setFloat64(8 * index, value, true));
  return create(MatrixSchema, { rows: rows.length, columns, values: new Uint8Array(values.buffer) });
}
