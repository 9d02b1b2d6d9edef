/** Makes all votes of a labeler void, after showing what that would do; and lets them count again. */
import { call, path } from '../../api/call';
import type { components } from '../../api/openapi.gen';
import type { Session } from '../../api/schema';
import { Dialog } from '../../ui/dialog';
import { figure } from '../../ui/format';
import { useLoad } from '../../ui/load';
import { ErrorNotice, Loading } from '../../ui/notice';
import { quality } from './words';

type Effect = components['schemas']['WithdrawalEffect'];
interface Answered {
  session: Session;
  effect: Effect;
}

interface WithdrawalProps {
  session: Session;
  labeler: string;
  show: (session: Session) => void;
  close: () => void;
}

export function Withdraw({ session, labeler, show, close }: WithdrawalProps) {
  const address = path`/v1/${session.name ?? ''}:withdrawLabeler`;
  const { value, error } = useLoad(
    (signal) => call<Answered>(address, { body: { labeler, validateOnly: true }, signal }),
    [labeler],
  );
  const act = async () => show((await call<Answered>(address, { body: { labeler } })).session);
  return (
    <Dialog title={`Withdraw ${labeler}?`} action="Withdraw" ready={value !== undefined} act={act} close={close}>
      <p>All votes of the labeler become void, and further answers are refused. The labeler can be reinstated.</p>
      {error !== undefined && <ErrorNotice error={error} />}
      {!value && error === undefined && <Loading what="what it would change" />}
      {value && <Preview effect={value.effect} />}
    </Dialog>
  );
}

export function Reinstate({ session, labeler, show, close }: WithdrawalProps) {
  const address = path`/v1/${session.name ?? ''}:reinstateLabeler`;
  const act = async () => show((await call<Answered>(address, { body: { labeler } })).session);
  return (
    <Dialog title={`Reinstate ${labeler}?`} action="Reinstate" act={act} close={close}>
      <p>All votes of the labeler count again, and further answers are taken.</p>
    </Dialog>
  );
}

function Preview({ effect }: { effect: Effect }) {
  const { liveBefore, liveAfter } = effect;
  const rows: [string, string | number, string | number][] = [
    ['Inliers', effect.countsBefore?.inlier ?? 0, effect.countsAfter?.inlier ?? 0],
    ['Outliers', effect.countsBefore?.outlier ?? 0, effect.countsAfter?.outlier ?? 0],
  ];
  if (liveBefore || liveAfter) {
    rows.push(['gamma', figure(liveBefore?.gamma), figure(liveAfter?.gamma)]);
    rows.push(['C', figure(liveBefore?.c), figure(liveAfter?.c)]);
    rows.push(['Quality', quality(liveBefore?.quality), quality(liveAfter?.quality)]);
    rows.push(['Rows outside', liveBefore?.outsideCount ?? '–', liveAfter?.outsideCount ?? '–']);
  }
  return (
    <>
      <p>
        Votes that become void: {effect.votes}. Observations that lose their label: {effect.labelsLost}, that change it:{' '}
        {effect.labelsChanged}, that gain one: {effect.labelsGained}, that are asked again: {effect.queriesReopened}.
      </p>
      <div class="wide">
        <table>
          <caption class="unseen">What the withdrawal would change</caption>
          <thead>
            <tr>
              <th scope="col" />
              <th scope="col">Now</th>
              <th scope="col">Without</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(([what, before, after]) => (
              <tr key={what}>
                <th scope="row">{what}</th>
                <td>{before}</td>
                <td>{after}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}
