/** The curves behind the choice: alignment over gamma, and the score over C at the chosen gamma. */
import type { TuningResult } from '../../api/schema';
import { LineChart } from '../../ui/charts/line_chart';
import { figure, wordOf } from '../../ui/format';

export function Curves({ result }: { result: TuningResult }) {
  const { alignmentCurve = [], cCurve = [], manifest, choice } = result;
  if (!alignmentCurve.length && !cCurve.length) return null;
  const base = wordOf(manifest?.baseScaling, 'SCALING_KIND_');
  const joint = choice === 'CHOICE_ATLAS';
  return (
    <section class="card" aria-labelledby="curves">
      <h2 id="curves">Curves</h2>
      <div class="columns">
        {cCurve.length > 0 && (
          <LineChart
            title="Score on the labels over C"
            caption={`At the chosen gamma, ${figure(result.gamma)}; C is ${figure(result.c)}.`}
            lines={[
              { name: 'score', style: 'first', points: cCurve.map((one) => ({ x: one.c ?? 0, y: one.score ?? 0 })) },
            ]}
            x={{ label: 'C', kind: 'log' }}
            y={{ label: 'score' }}
          />
        )}
        {cCurve.length > 0 && (
          <LineChart
            title="Rows outside over C"
            caption="Few rows outside leave outliers unseen, many bother people with inliers."
            lines={[
              {
                name: 'rows outside',
                style: 'second',
                points: cCurve.map((one) => ({ x: one.c ?? 0, y: one.outsideCount ?? 0 })),
              },
            ]}
            x={{ label: 'C', kind: 'log' }}
            y={{ label: 'rows outside' }}
          />
        )}
        {alignmentCurve.length > 0 && (
          <LineChart
            title="Local alignment over gamma"
            caption={
              `In the ${base} representation. ` +
              (joint
                ? 'It did not choose: gamma, C and the representation were chosen jointly, on the atlas.'
                : `Gamma, ${figure(result.gamma)}, is where it is highest.`)
            }
            lines={[
              {
                name: 'alignment',
                style: 'first',
                points: alignmentCurve.map((one) => ({ x: one.gamma ?? 0, y: one.alignment ?? 0 })),
              },
            ]}
            x={{ label: 'gamma', kind: 'log' }}
            y={{ label: 'alignment' }}
          />
        )}
      </div>
    </section>
  );
}
