/** Asks one observation at a time, of one session or, without `id`, of any. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import { call, path, ServiceError } from '../../api/call';
import { greet, may, server } from '../../api/caller';
import { token } from '../../api/token';
import { pause } from '../../api/pause';
import type { Profile } from '../../api/schema';
import { idOf, sessionName, to } from '../../shell/route';
import { useLoad } from '../../ui/load';
import { AwayNotice, ErrorNotice, Loading } from '../../ui/notice';
import { visible } from '../../ui/visible';
import { Card } from './card';
import { Controls } from './controls';
import { askAnew, AskName, labelerName, mayRename } from './labeler';
import './label.css';
import { follow } from './follow';
import { Leasing } from './leasing';
import { useOneTab } from './one_tab';
import { Progress } from './progress';
import { NoQuestion, StopAdvised } from './standstill';

export function LabelPage({ id = '' }: { id?: string }) {
  useEffect(() => {
    const ending = new AbortController();
    void greetUntilThere(ending.signal);
    return () => ending.abort();
  }, []);
  // Before anything is asked of the person: a service that asks who calls does so now.
  const known = useLoad((signal) => call(id ? path`/v1/${sessionName(id)}` : '/v1/sessions?pageSize=1', { signal }), [id]);
  if (known.error instanceof ServiceError && !known.error.passing) return <ErrorNotice error={known.error} />;
  const stranger = !server.value?.caller?.name;
  if (!server.value || (stranger && (token.value || !known.value))) return <Loading what="the session" />;
  if (!may.label.value) {
    return <p class="notice">Your role here is to look on. Ask whoever runs the service for the role of a labeler.</p>;
  }
  const labeler = labelerName();
  if (!labeler) return <AskName />;
  return <OneTab key={`${labeler}/${id}`} labeler={labeler} session={id && sessionName(id)} />;
}

async function greetUntilThere(signal: AbortSignal): Promise<void> {
  while (!signal.aborted && !server.value) {
    await pause(1000, signal);
    if (!signal.aborted && !server.value) await greet().catch(() => undefined);
  }
}

interface Place {
  labeler: string;
  session: string;
}

function OneTab({ labeler, session }: Place) {
  const { mine, take } = useOneTab(`svddtune.label/${labeler}/${session}`);
  if (mine === undefined) return <Loading what="the session" />;
  if (mine) return <Desk labeler={labeler} session={session} />;
  return (
    <div class="notice" role="status">
      <p>You are labelling this in another tab.</p>
      <button type="button" class="main" onClick={take}>
        Label here
      </button>
    </div>
  );
}

function Desk({ labeler, session: named }: Place) {
  const [failure, setFailure] = useState<unknown>();
  const leasing = useMemo(() => new Leasing(labeler, named, setFailure), []);
  const { desk } = leasing;
  useEffect(() => leasing.start(), []);

  const question = desk.question.value;
  const name = named || question?.assign.session || '';
  useWatch(leasing, name, setFailure);
  const session = desk.session.value?.name === name ? desk.session.value : undefined;
  const profile = useProfile(name, labeler, question?.assign.query);

  if (failure !== undefined) {
    return (
      <>
        <ErrorNotice error={failure} />
        <p>
          <a href={to()}>All sessions</a>
        </p>
      </>
    );
  }
  const blind = session?.config?.blind ?? false;
  return (
    <div class="labeling">
      <header class="row top">
        <h1>
          Label{name && ' '}
          {name && <bdi>{visible(session?.displayName || idOf(name))}</bdi>}
        </h1>
        <span class="hint">
          as <bdi>{labeler}</bdi>
        </span>
        {mayRename() && (
          <button type="button" class="plain small" onClick={askAnew}>
            Change name
          </button>
        )}
        {name && <a href={to('sessions', idOf(name))}>Session</a>}
      </header>
      {desk.sender.away.value && <AwayNotice />}
      <div aria-live="polite">
        {desk.note.value && <p class={`notice ${desk.note.value.grave ? 'error' : ''}`}>{visible(desk.note.value.text)}</p>}
      </div>
      {session && !desk.finish.value && <StopAdvised session={session} />}
      <div class="desk">
        <div class="asked" aria-live="polite" aria-busy={!question}>
          {question ? (
            <Card
              key={`${question.assign.session}/${question.assign.query}`}
              question={question}
              profile={profile}
              blind={blind}
            />
          ) : (
            <NoQuestion
              session={session ?? desk.session.value}
              finish={desk.finish.value}
              again={() => leasing.look()}
            />
          )}
        </div>
        <Controls desk={desk} />
        <aside data-ahead={desk.held.length >= leasing.most}>
          {session && (
            <Progress
              session={session}
              before={desk.before.value}
              held={desk.held.length}
              unsent={desk.outbox.items.value.length}
            />
          )}
        </aside>
      </div>
    </div>
  );
}

/** The session of the questions, as it changes. */
function useWatch(leasing: Leasing, name: string, failed: (error: unknown) => void): void {
  const { desk } = leasing;
  useEffect(() => {
    if (!name) return undefined;
    const ending = new AbortController();
    const saw: Parameters<typeof follow>[1] = (session) => {
      desk.saw(session);
      leasing.look();
    };
    const away = (is: boolean) => {
      desk.sender.away.value = is;
    };
    follow(name, saw, away, ending.signal).catch((error: unknown) => {
      if (!(error instanceof ServiceError && error.status === 401)) failed(error);
    });
    return () => ending.abort();
  }, [name]);
}

/** What the features are like; it is there once the dataset is prepared, at the latest some questions later. */
function useProfile(name: string, labeler: string, query: number | undefined): Profile | undefined {
  const [known, setKnown] = useState<{ name: string; profile: Profile }>();
  const found = known?.name === name ? known.profile : undefined;
  useLoad(
    async (signal) => {
      if (!name || query === undefined || found) return;
      const address = `${path`/v1/${name}:profile`}?labeler=${encodeURIComponent(labeler)}`;
      const profile = await call<Profile>(address, { signal });
      if (profile.features?.length) setKnown({ name, profile });
    },
    [name, found ? undefined : query],
  );
  return found;
}
