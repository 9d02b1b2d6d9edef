/** A file that has been read: roles and settings are chosen, then it is sent, then the session starts. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { Columns } from './columns';
import { duration, estimate, size } from './file/cost';
import type { Judgement, Role } from './file/choice';
import type { Reader } from './file/reader';
import type { Opened } from './file/worker';
import { Labels } from './labels';
import { Sending } from './sending';
import { PROPOSED, proposedBudget, SettingsForm, type Settings } from './settings';
import { many } from '../../ui/format';
import { ErrorNotice } from '../../ui/notice';
import { visible } from '../../ui/visible';

interface ChosenProps {
  file: File;
  table: Opened;
  reader: Reader;
  /** Begin anew, with another file. */
  forget: () => void;
}

/** Names that end in .csv, .csv.gz and so on, without their ends: as the command line names data. */
function nameOf(file: File): string {
  const plain = file.name.replace(/\.gz$/i, '').replace(/(?<=.)\.[^.]*$/, '');
  let name = plain;
  while (new TextEncoder().encode(name).length > 128) name = name.slice(0, -1);
  return name;
}

export function Chosen({ file, table, reader, forget }: ChosenProps) {
  const [roles, setRoles] = useState<Role[]>(() => table.columns.map((one) => one.proposed));
  const [outlierValue, setOutlierValue] = useState('');
  const [settings, setSettings] = useState<Settings>(() => ({
    ...PROPOSED,
    name: nameOf(file),
    budget: proposedBudget(table.rowCount, 0),
  }));
  const [judgement, setJudgement] = useState<Judgement>();
  const [failed, setFailed] = useState<unknown>();
  const [sent, setSent] = useState(false);
  const heading = useRef<HTMLHeadingElement>(null);
  const scaled = settings.scaling !== 'NONE';

  useEffect(() => heading.current?.focus(), []);
  useEffect(() => {
    let current = true;
    reader.judge(roles, scaled).then(
      (found) => current && setJudgement(found),
      (error: unknown) => current && setFailed(error),
    );
    return () => {
      current = false;
    };
  }, [roles, scaled]);

  const change = (position: number, role: Role) =>
    setRoles(
      roles.map((one, i) => {
        if (i === position) return role;
        // Ids and labels are in one column each.
        return one === role && (role === 'id' || role === 'label') ? 'out' : one;
      }),
    );
  const features = judgement?.features ?? 0;
  const cost = estimate(
    table.rowCount,
    Math.max(1, features),
    settings.scaling === 'AUTO',
    ['MIXED', 'KNOWLEDGE_GRADIENT', 'DISAGREEMENT'].includes(settings.strategy),
  );
  const general = table.notes.filter((note) => note.column === undefined);
  return (
    <>
      <h2 ref={heading} tabIndex={-1}>
        {visible(file.name)}: {many(table.rowCount, 'row')}, {many(table.columns.length, 'column')}
      </h2>
      {general.map((note) => (
        <p key={note.message} class="notice">
          {visible(note.message)}
        </p>
      ))}
      {failed !== undefined && <ErrorNotice error={failed} />}
      <div class="columns">
        <fieldset disabled={sent} class="plain">
          <legend class="unseen">Columns</legend>
          <Labels
            table={table}
            roles={roles}
            outlierValue={outlierValue}
            change={change}
            setOutlierValue={setOutlierValue}
          />
          <Columns opened={table} roles={roles} judgement={judgement} change={change} />
        </fieldset>
        <form
          class="card"
          aria-label="Settings of the session"
          onSubmit={(event) => event.preventDefault()}
        >
          <SettingsForm
            settings={settings}
            rows={table.rowCount}
            labelled={roles.includes('label')}
            stored={sent}
            change={(part) => setSettings({ ...settings, ...part })}
          />
          {judgement?.refusal && (
            <p class="notice error" role="alert">
              {visible(judgement.refusal.message)} <code>{judgement.refusal.reason}</code>
            </p>
          )}
          {!sent && judgement && !judgement.refusal && (
            <p class="estimate">
              {many(features, 'feature')}. The first question is expected
              after about {duration(cost.seconds)} with one free worker, which needs about {size(cost.bytes)} of memory.
            </p>
          )}
          <Sending
            reader={reader}
            roles={roles}
            outlierValue={roles.includes('label') && outlierValue ? outlierValue : undefined}
            settings={settings}
            name={nameOf(file)}
            ready={judgement !== undefined && !judgement.refusal}
            stored={(is, known) => {
              setSent(is);
              if (is && known) {
                const spent = settings.controls ? 0 : known;
                const budget = Math.max(settings.budget, proposedBudget(table.rowCount, spent));
                setSettings({ ...settings, budget });
              }
            }}
            forget={forget}
          />
        </form>
      </div>
    </>
  );
}
