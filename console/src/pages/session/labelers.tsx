/** Who has labelled, how fast and how unanimously; admins withdraw and reinstate. */
import { useState } from 'preact/hooks';
import { may } from '../../api/caller';
import { call, path } from '../../api/call';
import type { components } from '../../api/openapi.gen';
import type { LabelerReport, Session } from '../../api/schema';
import { ago, figure, percent } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { Loading, PartNotice } from '../../ui/notice';
import { AgreementMatrix } from './agreement';
import { Reinstate, Withdraw } from './withdrawal';

type Listed = components['schemas']['ListLabelersResponse'];

interface LabelersProps {
  session: Session;
  returns: number;
  show: (session: Session) => void;
}

export function Labelers({ session, returns, show }: LabelersProps) {
  const name = session.name ?? '';
  const { value, error, reload } = useLoad(
    (signal) => call<Listed>(path`/v1/${name}/labelers`, { signal }),
    [name, session.etag, returns],
  );
  const [asked, setAsked] = useState<LabelerReport>();
  const labelers = value?.labelers ?? [];
  const close = () => {
    setAsked(undefined);
    reload();
  };
  return (
    <section aria-labelledby="labelers">
      <h2 id="labelers">Labelers</h2>
      <PartNotice error={error} />
      {!value && <Loading what="the labelers" />}
      {value && !labelers.length && <p class="hint">Nobody has labelled yet.</p>}
      {labelers.length > 0 && (
        <div class="wide" tabIndex={0} role="region" aria-label="Labelers">
          <table>
            <thead>
              <tr>
                <th scope="col">Labeler</th>
                <th scope="col">Votes</th>
                <th scope="col">Pace</th>
                <th scope="col">Agrees with others</th>
                <th scope="col">With itself</th>
                <th scope="col">Last answer</th>
                {may.administer.value && <th scope="col">Withdraw</th>}
              </tr>
            </thead>
            <tbody>
              {labelers.map((one) => (
                <Row key={one.labeler} one={one} ask={() => setAsked(one)} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value?.agreement && <Together agreement={value.agreement} />}
      {labelers.length > 1 && <AgreementMatrix session={session} returns={returns} />}
      {asked &&
        (asked.withdrawn ? (
          <Reinstate session={session} labeler={asked.labeler ?? ''} show={show} close={close} />
        ) : (
          <Withdraw session={session} labeler={asked.labeler ?? ''} show={show} close={close} />
        ))}
    </section>
  );
}

function Row({ one, ask }: { one: LabelerReport; ask: () => void }) {
  const { votes } = one;
  return (
    <tr>
      <th scope="row">
        {one.labeler} {one.withdrawn && <em>(withdrawn)</em>}
      </th>
      <td>
        {votes?.inlier ?? 0} inlier, {votes?.outlier ?? 0} outlier
        {votes?.unsure ? `, ${votes.unsure} unsure` : ''}
        {one.retracted ? `; ${one.retracted} retracted` : ''}
        {one.unused ? `; ${one.unused} too late` : ''}
      </td>
      <td>{one.medianAnswerSeconds === undefined ? '–' : `${figure(one.medianAnswerSeconds, 2)} s an answer`}</td>
      <td>{one.agreement === undefined ? '–' : `${percent(one.agreement)} of ${one.compared}`}</td>
      <td>{one.selfConsistency === undefined ? '–' : `${percent(one.selfConsistency)} of ${one.repeats}`}</td>
      <td>{ago(one.lastAnswerTime)}</td>
      {may.administer.value && (
        <td>
          <button type="button" class="small" onClick={ask}>
            {one.withdrawn ? 'Reinstate' : 'Withdraw'} <span class="unseen">{one.labeler}</span>
          </button>
        </td>
      )}
    </tr>
  );
}

/** How far all labelers agree. */
function Together({ agreement }: { agreement: NonNullable<Listed['agreement']> }) {
  if (!agreement.observations) return null;
  const figures: [string, number | undefined][] = [
    ["Cohen's kappa", agreement.cohenKappa],
    ["Fleiss' kappa", agreement.fleissKappa],
    ["Krippendorff's alpha", agreement.krippendorffAlpha],
  ];
  const known = figures.filter(([, value]) => value !== undefined);
  return (
    <p>
      {agreement.observations} observations have votes of several labelers.{' '}
      {agreement.observed !== undefined && `${percent(agreement.observed)} of the pairs of votes are equal. `}
      {known.map(([word, value]) => `${word} ${figure(value)}`).join(', ')}
      {known.length > 0 && '.'}
    </p>
  );
}
