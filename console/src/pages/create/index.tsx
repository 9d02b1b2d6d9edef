/** Creates a session from a file: its columns, the settings, the upload, the estimate, the start. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { may, server } from '../../api/caller';
import { DropZone } from '../../ui/drop_zone';
import { ErrorNotice } from '../../ui/notice';
import { visible } from '../../ui/visible';
import { Chosen } from './chosen';
import './create.css';
import { dropped } from './dropped';
import { Reader } from './file/reader';
import { Refusal } from './file/refusal';
import type { Form } from './file/table';
import type { Opened } from './file/worker';
import { FormChoice } from './form';

/** Above this a browser would need several GiB. */
const MOST_MIB = 400;
const PLAIN: Form = { encoding: 'utf-8', delimiter: '' };

interface Reading {
  file: File;
  share: number;
}

export function Create() {
  const [reading, setReading] = useState<Reading>();
  const [opened, setOpened] = useState<{ file: File; table: Opened; reader: Reader; count: number }>();
  const [file, setFile] = useState<File>();
  const [form, setForm] = useState<Form>(PLAIN);
  const [fault, setFault] = useState<unknown>();
  const reader = useRef<Reader | undefined>(undefined);
  const count = useRef(0);

  const forget = () => {
    reader.current?.close();
    reader.current = undefined;
    setReading(undefined);
    setOpened(undefined);
    setFault(undefined);
  };
  const read = async (taken: File, as: Form) => {
    forget();
    setFile(taken);
    setForm(as);
    if (taken.size > MOST_MIB * 2 ** 20) {
      setFault(tooLarge(taken));
      return;
    }
    const own = new Reader();
    reader.current = own;
    setReading({ file: taken, share: 0 });
    try {
      const table = await own.open(taken, as, (bytes) => {
        if (reader.current === own) setReading({ file: taken, share: Math.min(1, bytes / taken.size) });
      });
      checkLimits(table);
      count.current += 1;
      if (reader.current === own) setOpened({ file: taken, table, reader: own, count: count.current });
    } catch (error) {
      if (reader.current === own) setFault(error);
    }
    if (reader.current === own) setReading(undefined);
  };
  useEffect(() => {
    const waiting = dropped.value;
    dropped.value = undefined;
    if (waiting) void read(waiting, PLAIN);
    return () => reader.current?.close();
  }, []);

  if (!may.steer.value) {
    return (
      <>
        <h1>New session</h1>
        <p class="notice">Your role may not create sessions. Ask somebody with the role tuner or admin.</p>
      </>
    );
  }
  return (
    <div class="create">
      <h1>New session</h1>
      {!reading && !opened && <DropZone purpose="to start a session" take={(one) => void read(one, PLAIN)} />}
      {reading && (
        <div class="card" role="status">
          <p>
            Reading {visible(reading.file.name)} … {Math.round(100 * reading.share)} %
          </p>
          <progress value={reading.share} aria-label="Share of the file that is read" />
          <p>
            <button type="button" onClick={forget}>
              Cancel
            </button>
          </p>
        </div>
      )}
      {fault !== undefined && <Fault fault={fault} />}
      {file && !reading && (fault !== undefined || opened) && (
        <FormChoice
          form={form}
          table={opened?.table}
          open={fault !== undefined}
          change={(as) => void read(file, as)}
        />
      )}
      {opened && <Chosen key={opened.count} {...opened} forget={forget} />}
    </div>
  );
}

/** A refusal with its reason, as it has on the command line. */
function Fault({ fault }: { fault: unknown }) {
  if (!(fault instanceof Refusal)) return <ErrorNotice error={fault} />;
  return (
    <p class="notice error" role="alert">
      {visible(fault.message)} <code>{fault.reason}</code>
    </p>
  );
}

function tooLarge(file: File): Refusal {
  const mib = Math.round(file.size / 2 ** 20).toLocaleString('en');
  return new Refusal(
    'FILE_TOO_LARGE',
    `${file.name} has ${mib} MiB, and a browser can take ${MOST_MIB}. Store it with: svddtune dataset add FILE`,
  );
}

function checkLimits(table: Opened): void {
  const limits = server.value?.limits;
  const rows = Number(limits?.observationCount ?? 0);
  if (rows && table.rowCount > rows) {
    throw new Refusal('DATASET_TOO_LARGE', `${table.rowCount} rows are more than the ${rows} that this service takes`);
  }
}
