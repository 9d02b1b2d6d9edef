/** How the file is written: told from its first lines, and corrected here. */
import type { Form } from './file/table';
import type { Opened } from './file/worker';

/** What a file that is written so has between its cells. */
const SEPARATED: Record<string, string> = {
  ',': 'commas',
  ';': 'semicolons',
  '\t': 'tabs',
  '|': 'bars',
  ' ': 'blanks',
};
const DELIMITERS: [string, string][] = [
  ['', 'told from the file'],
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
  [' ', 'blanks'],
];
const ENCODINGS = ['utf-8', 'windows-1252', 'utf-16le', 'utf-16be', 'iso-8859-2', 'windows-1251', 'shift_jis', 'gb18030'];

interface FormChoiceProps {
  form: Form;
  table: Opened | undefined;
  open: boolean;
  change: (form: Form) => void;
}

export function FormChoice({ form, table, open, change }: FormChoiceProps) {
  const written = table
    ? `cells separated by ${SEPARATED[table.delimiter] ?? table.delimiter}, ` +
      `${table.hasNames ? 'names in the first row' : 'no names'}, decimals after “${table.decimal}”`
    : 'not understood yet';
  const header = form.header === undefined ? '' : String(form.header);
  return (
    <details class="form" open={open}>
      <summary>How the file is written: {written}</summary>
      <div class="row">
        <Choice
          title="Between cells"
          value={form.delimiter}
          options={DELIMITERS}
          take={(delimiter) => change({ ...form, delimiter })}
        />
        <Choice
          title="Decimal sign"
          value={form.decimal ?? ''}
          options={[['', 'told from the file'], ['.', 'point'], [',', 'comma']]}
          take={(sign) => {
            const { decimal: _, ...others } = form;
            change(sign === '.' || sign === ',' ? { ...others, decimal: sign } : others);
          }}
        />
        <Choice
          title="First row"
          value={header}
          options={[['', 'told from the file'], ['true', 'holds names'], ['false', 'holds data']]}
          take={(value) => {
            const { header: _, ...others } = form;
            change(value ? { ...others, header: value === 'true' } : others);
          }}
        />
        <Choice
          title="Encoding"
          value={form.encoding}
          options={ENCODINGS.map((one) => [one, one.toUpperCase()])}
          take={(encoding) => change({ ...form, encoding })}
        />
      </div>
    </details>
  );
}

interface ChoiceProps {
  title: string;
  value: string;
  options: [string, string][];
  take: (value: string) => void;
}

function Choice({ title, value, options, take }: ChoiceProps) {
  return (
    <label>
      {title}
      <select value={value} onChange={(event) => take(event.currentTarget.value)}>
        {options.map(([key, text]) => (
          <option key={key} value={key}>
            {text}
          </option>
        ))}
      </select>
    </label>
  );
}
