/** The datasets, newest first; admins delete those that no session uses. */
import { useState } from 'preact/hooks';
import { call, path } from '../../api/call';
import { may } from '../../api/caller';
import type { Dataset } from '../../api/schema';
import { idOf } from '../../shell/route';
import { Dialog } from '../../ui/dialog';
import { ErrorNotice, Loading } from '../../ui/notice';
import { Pager, usePages } from '../../ui/pager';
import { usePolled } from '../../ui/polled';
import { visible } from '../../ui/visible';

const PAGE = 10;
const REFRESH_S = 10;

interface Listed {
  datasets: Dataset[];
  nextPageToken?: string;
}

function nameOf(dataset: Dataset): string {
  return visible(dataset.displayName || idOf(dataset.name ?? ''));
}

export function Datasets() {
  const pages = usePages();
  const [deleting, setDeleting] = useState<Dataset>();
  const { value, error, reload } = usePolled(
    (signal) => {
      const query = new URLSearchParams({ pageSize: String(PAGE) });
      if (pages.token) query.set('pageToken', pages.token);
      return call<Listed>(`/v1/datasets?${query}`, { signal });
    },
    [pages.token],
    REFRESH_S,
  );
  const expires = value?.datasets.some((one) => one.expireTime) ?? false;
  return (
    <section aria-labelledby="datasets">
      <h2 id="datasets">Datasets</h2>
      {error !== undefined && <ErrorNotice error={error} />}
      {!value && error === undefined && <Loading what="datasets" />}
      {value && value.datasets.length === 0 && <p>No dataset is stored.</p>}
      {value && value.datasets.length > 0 && (
        <div class="wide" role="region" aria-label="Table of datasets" tabIndex={0}>
          <table>
            <caption class="unseen">Datasets, newest first</caption>
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col" class="number">
                  Rows
                </th>
                <th scope="col" class="number">
                  Columns
                </th>
                <th scope="col" class="number">
                  Sessions
                </th>
                {expires && <th scope="col">Kept until</th>}
                {may.administer.value && (
                  <th scope="col">
                    <span class="unseen">Delete</span>
                  </th>
                )}
              </tr>
            </thead>
            <tbody>
              {value.datasets.map((one) => (
                <tr key={one.name}>
                  <th scope="row">{nameOf(one)}</th>
                  <td class="number">{(one.observationCount ?? 0).toLocaleString('en')}</td>
                  <td class="number">{(one.featureCount ?? 0).toLocaleString('en')}</td>
                  <td class="number">{one.sessionCount ?? 0}</td>
                  {expires && <td>{one.expireTime ? new Date(one.expireTime).toLocaleString('en-GB') : ''}</td>}
                  {may.administer.value && (
                    <td>
                      {!one.sessionCount && (
                        <button type="button" aria-label={`Delete ${nameOf(one)}`} onClick={() => setDeleting(one)}>
                          Delete
                        </button>
                      )}
                    </td>
                  )}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {value && <Pager pages={pages} next={value.nextPageToken} of="datasets" />}
      {deleting && (
        <Dialog
          title={`Delete ${nameOf(deleting)}?`}
          action="Delete"
          act={async () => {
            await call(path`/v1/${deleting.name ?? ''}`, { method: 'DELETE' });
            reload();
          }}
          close={() => setDeleting(undefined)}
        >
          <p>
            Its {(deleting.observationCount ?? 0).toLocaleString('en')} rows are gone then. No session uses them.
          </p>
        </Dialog>
      )}
    </section>
  );
}
