/** The tuned SVDD and the refined detector, compared on labels that each was made without. */
import type { Session } from '../../api/schema';
import { figure } from '../../ui/format';
import { evidence, metric, quality } from './words';

const BETTER: Record<string, string> = {
  DETECTOR_SVDD: 'The labels say that the tuned SVDD is the better one.',
  DETECTOR_REFINED: 'The labels say that the refined detector is the better one.',
};

export function Detectors({ session }: { session: Session }) {
  const { detectors } = session;
  if (!detectors) return null;
  const { difference } = detectors;
  return (
    <section aria-labelledby="detectors">
      <h2 id="detectors">Both detectors</h2>
      <p class="hint">
        {metric(detectors.svdd?.metric)} on {detectors.labels} labels ({evidence('KIND_HELD_OUT')})
      </p>
      <div class="wide">
        <table class="tight" aria-labelledby="detectors">
          <thead>
            <tr>
              <th scope="col">Detector</th>
              <th scope="col">Score and interval</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <th scope="row">tuned SVDD</th>
              <td>{quality(detectors.svdd)}</td>
            </tr>
            <tr>
              <th scope="row">refined detector</th>
              <td>{quality(detectors.refined)}</td>
            </tr>
          </tbody>
        </table>
      </div>
      <p>
        {BETTER[detectors.better ?? ''] ?? 'The labels cannot tell which is better.'}{' '}
        {difference &&
          `The refined detector's score less the SVDD's is between ${figure(difference.low ?? 0)} and ${figure(difference.high ?? 0)}.`}
      </p>
    </section>
  );
}
