/** Where a file is dropped, or chosen with the keyboard. */
import { useId, useState } from 'preact/hooks';
import './drop_zone.css';

interface DropZoneProps {
  /** What happens with the file, e.g. "to start a session". */
  purpose: string;
  take: (file: File) => void;
}

export function DropZone({ purpose, take }: DropZoneProps) {
  const id = useId();
  const [over, setOver] = useState(false);
  return (
    <div
      class={`drop${over ? ' over' : ''}`}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer?.files[0];
        if (file) take(file);
      }}
    >
      <label for={id}>
        <strong>Drop a CSV file here</strong>, or choose one, {purpose}
      </label>
      <input
        id={id}
        type="file"
        accept=".csv,.tsv,.txt,.gz,text/csv"
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) take(file);
          // The same file can be chosen again, after it has been corrected.
          event.currentTarget.value = '';
        }}
      />
      <p class="hint">
        One row for each observation, one column for each number that was measured. The file goes to this service only.
      </p>
    </div>
  );
}
