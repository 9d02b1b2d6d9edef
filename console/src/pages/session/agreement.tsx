/** Which two labelers agree, and which do not: Cohen's kappa of each pair. */
import { call, path } from '../../api/call';
import type { components } from '../../api/openapi.gen';
import type { Session } from '../../api/schema';
import { figure } from '../../ui/format';
import { useLoad } from '../../ui/load';

type Listed = components['schemas']['GetAgreementResponse'];
type Pair = components['schemas']['AgreementPair'];

// Above this, a matrix is no longer readable; the pairs can be exported.
const MOST = 12;

export function AgreementMatrix({ session, returns }: { session: Session; returns: number }) {
  const { value } = useLoad(
    (signal) => call<Listed>(path`/v1/${session.name ?? ''}:agreement`, { signal }),
    [session.name, session.etag, returns],
  );
  const pairs = value?.pairs ?? [];
  const names = [...new Set(pairs.flatMap((one) => [one.first ?? '', one.second ?? '']))].sort();
  if (!pairs.length || names.length > MOST) return null;
  const of = (a: string, b: string) => pairs.find((one) => isOf(one, a, b));
  return (
    <>
      <p class="hint">Cohen's kappa of each two labelers, and how many of their votes on the same are equal:</p>
      <div class="wide" tabIndex={0} role="region" aria-label="Agreement of each two labelers">
        <table class="tight">
          <thead>
            <tr>
              <th scope="col">Labeler</th>
              {names.map((one) => (
                <th key={one} scope="col">
                  {one}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {names.map((row) => (
              <tr key={row}>
                <th scope="row">{row}</th>
                {names.map((column) => (
                  <td key={column}>{row === column ? '' : inWords(of(row, column))}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </>
  );
}

function isOf(one: Pair, a: string, b: string): boolean {
  return (one.first === a && one.second === b) || (one.first === b && one.second === a);
}

function inWords(one: Pair | undefined): string {
  if (!one) return '–';
  const equal = (one.bothInlier ?? 0) + (one.bothOutlier ?? 0);
  const all = equal + (one.inlierOutlier ?? 0) + (one.outlierInlier ?? 0);
  return `${figure(one.cohenKappa, 2)} (${equal} of ${all})`;
}
