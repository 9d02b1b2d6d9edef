/** A stream of bytes as lines. Only LF, CR and CRLF end a line, as for the command line. */
import { Refusal } from './refusal';
import type { Line } from './rows';

/** What a file begins with that is no text, and what to do about it. */
const NOT_READ: [number[], string][] = [
  [[0x50, 0x4b, 3, 4], 'a ZIP archive or an Excel workbook: unpack it, or export it as CSV'],
  [[0x42, 0x5a, 0x68], 'compressed with bzip2: unpack it; only .gz can be read compressed'],
  [[0xfd, 0x37, 0x7a, 0x58, 0x5a, 0], 'compressed with xz: unpack it; only .gz can be read compressed'],
  [[0x28, 0xb5, 0x2f, 0xfd], 'compressed with zstd: unpack it; only .gz can be read compressed'],
  [[0xd0, 0xcf, 0x11, 0xe0], 'an Excel workbook: export it as CSV'],
  [[0x50, 0x41, 0x52, 0x31], 'a Parquet file: store it with svddtune dataset add'],
  [[0x93, 0x4e, 0x55, 0x4d, 0x50, 0x59], 'a NumPy file: store it with svddtune dataset add'],
];
const UTF_16: number[][] = [[0xff, 0xfe], [0xfe, 0xff]];

function begins(bytes: Uint8Array, with_: number[]): boolean {
  return with_.every((byte, i) => bytes[i] === byte);
}

/** Give each line to `take`, in order.
 *
 * Throws Refusal (INVALID_FIELD) for what is no text in the encoding.
 */
export async function eachLine(
  name: string,
  stream: ReadableStream<Uint8Array>,
  encoding: string,
  take: (line: Line) => void,
): Promise<void> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const reader = stream.getReader();
  let count = 0;
  let rest = '';
  let begun = false;
  const complete = (text: string, last: boolean) => {
    if (text.includes('\0')) {
      const line = count + lineOf(rest + text.slice(0, text.indexOf('\0')));
      throw new Refusal(
        'INVALID_FIELD',
        `${name} line ${line}: contains a NUL character, so it is not text in this encoding; choose another one`,
      );
    }
    const whole = rest + text;
    let start = 0;
    const plain = !whole.includes('\r');
    for (;;) {
      let end = whole.indexOf('\n', start);
      if (!plain) {
        const cr = whole.indexOf('\r', start);
        // A last CR may be half of a CRLF.
        if (cr >= 0 && (end < 0 || cr < end)) {
          if (cr + 1 === whole.length && !last) break;
          end = whole[cr + 1] === '\n' ? cr + 1 : cr;
        }
      }
      if (end < 0) break;
      count += 1;
      take([count, whole.slice(start, end + 1)]);
      start = end + 1;
    }
    rest = whole.slice(start);
    if (last && rest) {
      count += 1;
      take([count, rest]);
      rest = '';
    }
  };
  for (;;) {
    const read = await reader.read();
    if (!begun && read.value?.length) {
      begun = true;
      checkIsText(name, read.value, encoding);
    }
    let text: string;
    try {
      text = decoder.decode(read.value ?? new Uint8Array(), { stream: !read.done });
    } catch {
      const shown = new TextDecoder(encoding).decode(read.value);
      const line = count + lineOf(rest + shown.slice(0, Math.max(0, shown.indexOf('\ufffd'))));
      throw new Refusal(
        'INVALID_FIELD',
        `${name} line ${line}: not ${encoding.toUpperCase()} text; choose its encoding, or export it as UTF-8`,
      );
    }
    complete(text, read.done);
    if (read.done) return;
  }
}

function checkIsText(name: string, bytes: Uint8Array, encoding: string): void {
  for (const [magic, what] of NOT_READ) {
    if (begins(bytes, magic)) throw new Refusal('INVALID_FIELD', `${name}: this is ${what}`);
  }
  if (encoding === 'utf-8' && UTF_16.some((mark) => begins(bytes, mark))) {
    throw new Refusal('INVALID_FIELD', `${name}: this is UTF-16 text: choose this encoding, or export it as UTF-8`);
  }
}

/** The number of the line that begins or goes on after a text. */
function lineOf(before: string): number {
  return 1 + (before.match(/\r\n|\r|\n/g) ?? []).length;
}

/** The bytes of a file, unpacked where gzip has packed them. */
export async function unpacked(file: Blob): Promise<ReadableStream<Uint8Array>> {
  const head = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const stream = file.stream() as ReadableStream<Uint8Array>;
  if (head[0] !== 0x1f || head[1] !== 0x8b) return stream;
  return stream.pipeThrough(new DecompressionStream('gzip') as ReadableWritablePair<Uint8Array, Uint8Array>);
}
