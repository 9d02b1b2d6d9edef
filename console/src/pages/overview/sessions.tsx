/** The sessions, newest first: found by name, state and labels, and kept up to date. */
import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/call';
import { may } from '../../api/caller';
import type { Session } from '../../api/schema';
import { idOf, to } from '../../shell/route';
import { createFrom } from '../create/dropped';
import { DropZone } from '../../ui/drop_zone';
import { ago, figure, wordOf } from '../../ui/format';
import { AwayNotice, ErrorNotice, Loading } from '../../ui/notice';
import { Pager, usePages } from '../../ui/pager';
import { usePolled } from '../../ui/polled';
import { visible } from '../../ui/visible';

const PAGE = 20;
const REFRESH_S = 4;
const SETTLED_MS = 250;
const STATES = ['PREPARING', 'LABELING', 'PAUSED', 'ESTIMATING', 'COMPLETED', 'CANCELLED', 'FAILED'];
const STALLS: Record<string, string> = {
  STALL_REASON_NO_WORKERS: 'no workers',
  STALL_REASON_AWAITING_VOTES: 'waits for further votes',
  STALL_REASON_AWAITING_ADJUDICATION: 'waits for an adjudicator',
  STALL_REASON_JOB_GIVEN_UP: 'a job was given up',
};

interface Listed {
  sessions: Session[];
  nextPageToken?: string;
}

interface Filter {
  name: string;
  state: string;
  labels: string;
}

const ALL: Filter = { name: '', state: '', labels: '' };

function list(filter: Filter, token: string, signal: AbortSignal): Promise<Listed> {
  const query = new URLSearchParams({ pageSize: String(PAGE) });
  if (token) query.set('pageToken', token);
  if (filter.name) query.set('displayName', filter.name);
  if (filter.state) query.set('states', `SESSION_STATE_${filter.state}`);
  for (const label of filter.labels.split(/[\s,]+/).filter(Boolean)) query.append('labels', label);
  return call<Listed>(`/v1/sessions?${query}`, { signal });
}

export function Sessions() {
  const [typed, setTyped] = useState<Filter>(ALL);
  const [filter, setFilter] = useState<Filter>(ALL);
  const pages = usePages();
  const { value, error, away } = usePolled(
    (signal) => list(filter, pages.token, signal),
    [filter, pages.token],
    REFRESH_S,
  );
  useEffect(() => {
    if (typed === filter) return undefined;
    const timer = setTimeout(() => {
      pages.restart();
      setFilter(typed);
    }, SETTLED_MS);
    return () => clearTimeout(timer);
  }, [typed]);
  const filtered = Boolean(filter.name || filter.state || filter.labels) || pages.number > 1;
  const empty = value?.sessions.length === 0;
  return (
    <section aria-label="Sessions">
      {away && <AwayNotice />}
      {error !== undefined && <ErrorNotice error={error} />}
      <search>
        <form class="filter" hidden={empty && !filtered && typed === filter} onSubmit={(event) => event.preventDefault()}>
          <label>
            Name contains
            <input
              type="search"
              value={typed.name}
              onInput={(event) => setTyped({ ...typed, name: event.currentTarget.value })}
            />
          </label>
          <label>
            State
            <select
              value={typed.state}
              onChange={(event) => setTyped({ ...typed, state: event.currentTarget.value })}
            >
              <option value="">any</option>
              {STATES.map((state) => (
                <option key={state} value={state}>
                  {state.toLowerCase()}
                </option>
              ))}
            </select>
          </label>
          <label>
            Labels
            <input
              type="search"
              placeholder="team=payments"
              value={typed.labels}
              onInput={(event) => setTyped({ ...typed, labels: event.currentTarget.value })}
            />
          </label>
        </form>
      </search>
      {!value && error === undefined && !away && <Loading what="sessions" />}
      {empty && <Nothing filtered={filtered} />}
      {value && !empty && <Table sessions={value.sessions} />}
      {value && <Pager pages={pages} next={value.nextPageToken} of="sessions" />}
    </section>
  );
}

function Nothing({ filtered }: { filtered: boolean }) {
  if (filtered) return <p role="status">No such sessions.</p>;
  return (
    <>
      <p role="status">There is no session yet.</p>
      {may.steer.value ? (
        <DropZone purpose="to start the first one" take={createFrom} />
      ) : (
        <p>Somebody with the role tuner starts one; it will appear here.</p>
      )}
    </>
  );
}

function Table({ sessions }: { sessions: Session[] }) {
  return (
    <div class="wide" role="region" aria-label="Table of sessions" tabIndex={0}>
      <table class="sessions">
        <caption class="unseen">Sessions, newest first</caption>
        <thead>
          <tr>
            <th scope="col">Name</th>
            <th scope="col">State</th>
            <th scope="col" class="number">
              Labels
            </th>
            <th scope="col" class="number">
              Labelers
            </th>
            <th scope="col" class="number">
              Score
            </th>
            <th scope="col">Changed</th>
            <th scope="col">
              <span class="unseen">Next step</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((one) => (
            <Row key={one.name} session={one} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ session }: { session: Session }) {
  const stall = STALLS[session.stall ?? ''];
  const id = idOf(session.name ?? '');
  const waiting = session.waitingCount ?? 0;
  const leased = session.leasedCount ?? 0;
  const asks = session.state === 'SESSION_STATE_LABELING' && may.label.value;
  const has = Boolean(session.latestResult) && may.read.value;
  const name = visible(session.displayName || id);
  return (
    <tr>
      <th scope="row">
        <a href={to('sessions', id)}>{name}</a>
        {Object.entries(session.labels ?? {}).map(([key, value]) => (
          <span key={key} class="tag">
            {key}={visible(value)}
          </span>
        ))}
      </th>
      <td>
        {wordOf(session.state, 'SESSION_STATE_')} {stall && <strong class="stall">{stall}</strong>}{' '}
        {session.overdue && <strong class="stall">overdue</strong>}
      </td>
      <td class="number">
        {session.counts?.total ?? 0} of {session.config?.budget}
      </td>
      <td class="number">
        {waiting + leased > 0 && (
          <span>
            {leased} answering, {waiting} waiting
          </span>
        )}
      </td>
      <td class="number">{session.live?.quality ? figure(session.live.quality.value) : '–'}</td>
      <td>{ago(session.updateTime)}</td>
      <td>
        {asks && (
          <a href={to('sessions', id, 'label')} aria-label={`Label ${name}`}>
            Label
          </a>
        )}
        {!asks && has && (
          <a href={to('sessions', id, 'result')} aria-label={`Result of ${name}`}>
            Result
          </a>
        )}
      </td>
    </tr>
  );
}
