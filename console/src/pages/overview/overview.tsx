/** What there is: sessions, datasets, and who computes. */
import { greet, may, server } from '../../api/caller';
import { to } from '../../shell/route';
import { usePolled } from '../../ui/polled';
import { Datasets } from './datasets';
import { Load } from './load';
import './overview.css';
import { Sessions } from './sessions';

const GREET_S = 30;

export function Overview() {
  // What the service says of its store and its workers changes.
  usePolled(greet, [], GREET_S);
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
      {server.value && may.read.value && (
        <div class="columns">
          <Datasets />
          <Load />
        </div>
      )}
    </div>
  );
}
