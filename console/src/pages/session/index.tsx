/** What a session has learnt, and what can be done with it. */
import { may } from '../../api/caller';
import type { Session } from '../../api/schema';
import { sessionName } from '../../shell/route';
import { wordOf } from '../../ui/format';
import { AwayNotice, ErrorNotice, Loading } from '../../ui/notice';
import { About } from './about';
import { Actions } from './actions';
import { Atlas } from './atlas';
import { Detectors } from './detectors';
import { History } from './history';
import { Figures, Notices, Progress } from './live';
import { Labelers } from './labelers';
import { Log } from './log';
import { MapOfData } from './map';
import './session.css';
import { useLog } from './votes';
import { useWatched, type Followed } from './watched';
import { stateWords, strategy } from './words';

export function SessionPage({ id }: { id: string }) {
  const name = sessionName(id);
  const { session, events, away, error, returns, show } = useWatched(name);
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (!session) return away ? <AwayNotice /> : <Loading what="the session" />;
  return (
    <div class="session">
      <div class="row">
        <h1>{session.displayName || id}</h1>
        <span class={`state ${wordOf(session.state, 'SESSION_STATE_')}`}>
          {wordOf(session.state, 'SESSION_STATE_')}
        </span>
      </div>
      {away && <AwayNotice />}
      <p class="hint">
        {stateWords(session)} {session.observationCount} rows, strategy {strategy(session)}, session {id}.
      </p>
      <Notices session={session} />
      <Actions session={session} show={show} />
      <Progress session={session} />
      <Figures session={session} />
      <About session={session} />
      {may.read.value && <Learnt session={session} events={events} returns={returns} show={show} />}
    </div>
  );
}

/** What is computed from the votes of all, for those who may see them. */
function Learnt({ session, events, returns, show }: Pick<Followed, 'events' | 'returns' | 'show'> & { session: Session }) {
  const log = useLog(session.name ?? '', events, returns);
  return (
    <>
      <Detectors session={session} />
      <History session={session} returns={returns} />
      <div class="pair">
        <MapOfData session={session} returns={returns} />
        <Atlas session={session} returns={returns} />
      </div>
      <Labelers session={session} returns={returns} show={show} />
      <Log session={session} log={log} />
    </>
  );
}
