/** Who the service takes the person for, and what that role may do. */
import { computed, signal } from '@preact/signals';
import { call } from './call';
import type { ServerInfo } from './schema';

/** What the service says of itself; undefined until it has been asked. */
export const server = signal<ServerInfo | undefined>(undefined);

const ROLES = ['CALLER_ROLE_VIEWER', 'CALLER_ROLE_LABELER', 'CALLER_ROLE_TUNER', 'CALLER_ROLE_ADMIN'];

/** The caller's rank: 0 viewer, 1 labeler, 2 tuner, 3 admin. A service that does not ask lets all in. */
const rank = computed(() => {
  const caller = server.value?.caller;
  return caller ? ROLES.indexOf(caller.role ?? '') : 3;
});

/** What is shown; the service decides by itself what it lets happen. */
export const may = {
  /** See datasets, labels and results: all but labelers. */
  read: computed(() => rank.value !== 1),
  /** Get queries and answer them. */
  label: computed(() => rank.value >= 1),
  /** Upload data, create and steer sessions. */
  steer: computed(() => rank.value >= 2),
  /** Withdraw labelers, delete. */
  administer: computed(() => rank.value >= 3),
};

/** Ask the service who it is and whom it sees. Throws Unreachable. */
export async function greet(): Promise<void> {
  server.value = await call<ServerInfo>('/v1/server');
}
