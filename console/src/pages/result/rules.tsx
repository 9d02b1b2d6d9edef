/** The result beside label-free rules, which choose gamma and nu without any label. */
import type { Comparison, Interval, TuningResult } from '../../api/schema';
import { figure } from '../../ui/format';
import { between } from './words';

const NAMES: Record<string, string> = {
  sklearn_default: "scikit-learn's default",
  scott: "Scott's rule",
  silverman: "Silverman's rule",
};

export function Rules({ result }: { result: TuningResult }) {
  const rules = [...(result.comparisons ?? [])].sort((a, b) => (b.score ?? -2) - (a.score ?? -2));
  if (!rules.length) return null;
  const own = result.quality;
  const least = Math.min(0, ...[own?.value, own?.interval?.low, ...rules.map((one) => one.score)].map((x) => x ?? 0));
  return (
    <section class="card" aria-labelledby="rules">
      <h2 id="rules">Beside rules without labels</h2>
      <div class="wide" role="region" aria-labelledby="rules" tabIndex={0}>
        <table class="rules">
          <thead>
            <tr>
              <th scope="col">Chosen by</th>
              <th scope="col">On the labels</th>
              <th scope="col" class="number">
                Score
              </th>
              <th scope="col" class="number">
                Gamma
              </th>
              <th scope="col" class="number">
                Nu
              </th>
              <th scope="col" class="number">
                Outside
              </th>
            </tr>
          </thead>
          <tbody>
            <tr class="own">
              <th scope="row">The labels</th>
              <td>
                <Dot value={own?.value} interval={own?.interval} least={least} />
              </td>
              <td class="number">{figure(own?.value, 2)}</td>
              <td class="number">{figure(result.gamma)}</td>
              <td class="number">{figure(result.nu)}</td>
              <td class="number">{(result.outsideCount ?? 0).toLocaleString('en')}</td>
            </tr>
            {rules.map((one) => (
              <Rule key={one.name} one={one} least={least} />
            ))}
          </tbody>
        </table>
      </div>
      <p class="hint">
        The bar is the bootstrap interval of the score on the labels, {between(own?.interval)}. It is optimistic: these
        labels chose gamma and C, and are no random sample.
      </p>
    </section>
  );
}

function Rule({ one, least }: { one: Comparison; least: number }) {
  return (
    <tr>
      <th scope="row">{NAMES[one.name ?? ''] ?? (one.name ?? '').replaceAll('_', ' ')}</th>
      <td>
        <Dot value={one.score} least={least} />
      </td>
      <td class="number">{figure(one.score, 2)}</td>
      <td class="number">{figure(one.gamma)}</td>
      <td class="number">{figure(one.nu)}</td>
      <td class="number">{(one.outsideCount ?? 0).toLocaleString('en')}</td>
    </tr>
  );
}

interface DotProps {
  value: number | undefined;
  interval?: Interval | undefined;
  least: number;
}

/** A score on the line from the least score to 1; the figure is in the next column. */
function Dot({ value, interval, least }: DotProps) {
  const x = (score: number) => 4 + (112 * (score - least)) / (1 - least);
  return (
    <svg class="score" viewBox="0 0 120 16" width="120" height="16" aria-hidden="true">
      <line class="axis" x1={x(least)} x2={x(1)} y1="8" y2="8" />
      {interval && <line class="interval" x1={x(interval.low ?? 0)} x2={x(interval.high ?? 0)} y1="8" y2="8" />}
      {value !== undefined && <circle cx={x(value)} cy="8" r="4" />}
    </svg>
  );
}
