/** What there is: sessions, datasets, and who computes. */
import { useEffect } from 'preact/hooks';
import { greet, may, server } from '../../api/caller';
import { to } from '../../shell/route';
import { Datasets } from './datasets';
import { Load } from './load';
import './overview.css';
import { Sessions } from './sessions';

export function Overview() {
  // What the service says of its store may have changed since the console was opened.
  useEffect(() => {
    greet().catch(() => undefined);
  }, []);
  const durability = server.value?.durability;
  return (
    <div class="overview">
      <div class="row">
        <h1 class="grow">Sessions</h1>
        {may.steer.value && (
          <a class="button main" href={to('create')}>
            New session
          </a>
        )}
      </div>
      {durability && !durability.survivesCrash && (
        <p class="notice warning" role="status">
          Labels may be lost: {durability.message}
        </p>
      )}
      <Sessions />
      <div class="columns">
        <Datasets />
        <Load />
      </div>
    </div>
  );
}
