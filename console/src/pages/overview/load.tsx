/** Who computes, and what waits. */
import { call } from '../../api/call';
import type { Load as Answer } from '../../api/schema';
import { ago } from '../../ui/format';
import { ErrorNotice, Loading } from '../../ui/notice';
import { usePolled } from '../../ui/polled';
import { size } from '../create/file/cost';

const REFRESH_S = 4;

export function Load() {
  const { value, error } = usePolled((signal) => call<Answer>('/v1/server:load', { signal }), [], REFRESH_S);
  const workers = value?.workers ?? [];
  return (
    <section aria-labelledby="workers">
      <h2 id="workers">Workers and queue</h2>
      {error !== undefined && <ErrorNotice error={error} />}
      {!value && error === undefined && <Loading what="workers" />}
      {value && (
        <>
          {workers.length === 0 && (
            <p class="notice warning" role="status">
              No worker is running, so nothing is computed. Start one with: <code>svddtune worker</code>
            </p>
          )}
          <p>
            Jobs: {value.runningJobs ?? 0} running; {value.urgentJobs ?? 0} queued that labelers wait for, and{' '}
            {value.bulkJobs ?? 0} others.
          </p>
          {(value.givenUpJobs ?? 0) > 0 && (
            <p class="notice warning">
              Jobs that were given up: {value.givenUpJobs}. See them with: <code>svddtune jobs list</code>
            </p>
          )}
          {workers.length > 0 && (
            <div class="wide" role="region" aria-label="Table of workers" tabIndex={0}>
              <table>
                <caption class="unseen">Workers</caption>
                <thead>
                  <tr>
                    <th scope="col">Worker</th>
                    <th scope="col">Works on</th>
                    <th scope="col" class="number">
                      Memory
                    </th>
                    <th scope="col">Seen</th>
                  </tr>
                </thead>
                <tbody>
                  {workers.map((one) => (
                    <tr key={one.name}>
                      <th scope="row">{one.name}</th>
                      <td>{one.job ? one.job.toLowerCase().replaceAll('_', ' ') : 'nothing'}</td>
                      <td class="number">{Number(one.memoryBytes ?? 0) ? size(Number(one.memoryBytes)) : '–'}</td>
                      <td>{ago(one.lastSeen)}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
          )}
        </>
      )}
    </section>
  );
}
