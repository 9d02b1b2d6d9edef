/** The page that is shown: the part of the address after the #, so that the service sends one file. */
import { computed, signal } from '@preact/signals';

const hash = signal(location.hash);
addEventListener('hashchange', () => {
  hash.value = location.hash;
});

/** The parts of the address, decoded: `#/sessions/p00-1a2b/label` is `sessions`, `p00-1a2b`, `label`. */
export const route = computed(() =>
  hash.value
    .replace(/^#\/?/, '')
    .split('/')
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    }),
);

/** The address of a page, for links. */
export function to(...parts: string[]): string {
  return `#/${parts.map(encodeURIComponent).join('/')}`;
}

/** Show a page. */
export function go(...parts: string[]): void {
  location.hash = to(...parts);
  hash.value = location.hash;
}

/** The resource name of the session whose id is in an address. */
export function sessionName(id: string): string {
  return `sessions/${id}`;
}

/** The id in a resource name: its last part. */
export function idOf(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
