/** All sessions of the project. */
import { call, path } from '../api/call';
import type { Session } from '../api/schema';
import { idOf, to } from '../shell/route';
import { ago, wordOf } from '../ui/format';
import { useLoad } from '../ui/load';
import { ErrorNotice, Loading } from '../ui/notice';

export function Overview() {
  const { value, error } = useLoad(
    (signal) => call<{ sessions: Session[] }>(path`/v1/sessions`, { signal }),
    [],
  );
  return (
    <>
      <h1>Sessions</h1>
      {error !== undefined && <ErrorNotice error={error} />}
      {!value && error === undefined && <Loading what="sessions" />}
      {value && (
        <table>
          <caption class="unseen">Sessions, newest first</caption>
          <thead>
            <tr>
              <th scope="col">Name</th>
              <th scope="col">State</th>
              <th scope="col">Labels</th>
              <th scope="col">Changed</th>
            </tr>
          </thead>
          <tbody>
            {value.sessions.map((one) => (
              <tr key={one.name}>
                <th scope="row">
                  <a href={to('sessions', idOf(one.name ?? ''))}>{one.displayName || idOf(one.name ?? '')}</a>
                </th>
                <td>{wordOf(one.state, 'SESSION_STATE_')}</td>
                <td>
                  {one.counts?.total ?? 0} of {one.config?.budget}
                </td>
                <td>{ago(one.updateTime)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}
