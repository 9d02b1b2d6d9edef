/** The two detectors of a result, which one is shown, and which to trust. */
import type { DetectorComparison, TuningResult } from '../../api/schema';
import { figure, wordOf } from '../../ui/format';
import type { DetectorName } from './cut';
import { between } from './words';

interface DetectorsProps {
  result: TuningResult;
  detector: DetectorName;
  choose: (detector: DetectorName) => void;
}

export function Detectors({ result, detector, choose }: DetectorsProps) {
  const compared = result.refined?.comparison;
  return (
    <section class="card" aria-labelledby="detectors">
      <h2 id="detectors">Detectors</h2>
      <fieldset class="row">
        <legend class="unseen">Detector that is shown</legend>
        {(['svdd', 'refined'] as const).map((one) => (
          <label key={one} class="inline">
            <input
              type="radio"
              name="detector"
              checked={detector === one}
              disabled={one === 'refined' && !result.refined}
              onChange={() => choose(one)}
            />{' '}
            {one === 'svdd' ? 'Tuned SVDD' : 'Refined detector'}
          </label>
        ))}
      </fieldset>
      {!result.refined && (
        <p class="hint">There is no refined detector: it needs an atlas and labels of both classes.</p>
      )}
      {compared && <Compared compared={compared} />}
      {result.refined && !compared && (
        <p>The labels do not tell which detector is better: each class needs at least two. Trust the SVDD.</p>
      )}
    </section>
  );
}

function Compared({ compared }: { compared: DetectorComparison }) {
  const metric = wordOf(compared.svdd?.metric, 'METRIC_').replace('cohen ', '');
  return (
    <>
      <table>
        <caption class="unseen">Scores of the detectors on held-out labels</caption>
        <thead>
          <tr>
            <th scope="col">On {compared.labels ?? 0} held-out labels</th>
            <th scope="col" class="number">
              {metric}
            </th>
            <th scope="col" class="number">
              Interval
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">Tuned SVDD</th>
            <td class="number">{figure(compared.svdd?.value, 2)}</td>
            <td class="number">{between(compared.svdd?.interval)}</td>
          </tr>
          <tr>
            <th scope="row">Refined detector</th>
            <td class="number">{figure(compared.refined?.value, 2)}</td>
            <td class="number">{between(compared.refined?.interval)}</td>
          </tr>
          <tr>
            <th scope="row">Refined less SVDD</th>
            <td class="number" />
            <td class="number">{between(compared.difference)}</td>
          </tr>
        </tbody>
      </table>
      <p>{verdict(compared)}</p>
    </>
  );
}

function verdict(compared: DetectorComparison): string {
  if (compared.better === 'DETECTOR_REFINED') {
    return 'Trust the refined detector: it is better on labels that it was made without.';
  }
  if (compared.better === 'DETECTOR_SVDD') {
    return 'Trust the SVDD: it is better on labels that it was made without.';
  }
  return (
    `${compared.labels ?? 0} labels do not tell which is better: the interval of the difference contains 0. ` +
    'Until more labels do, the SVDD is the simpler choice.'
  );
}
