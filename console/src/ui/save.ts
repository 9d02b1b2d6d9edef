/** Gives the person a file. */

export function saveFile(name: string, parts: BlobPart[], type: string): void {
  const url = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // (The browser has begun to read it by then.)
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Lines of CSV, as the command line writes them: no spreadsheet takes a text for a formula. */
export function csv(rows: readonly (readonly (string | number | undefined)[])[]): string {
  return rows.map((row) => `${row.map(cell).join(',')}\r\n`).join('');
}

function cell(value: string | number | undefined): string {
  const given = value === undefined ? '' : String(value);
  const formula = /^'*[=+\-@\t\r]/.test(given);
  const number = /^[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?$/.test(given);
  const text = formula && !number ? `'${given}` : given;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
