/** The pages. Those where nobody answers a question are loaded when they are first shown. */
import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { greet } from '../api/caller';
import { pause } from '../api/pause';
import { LabelPage } from '../pages/label';
import { Overview } from '../pages/overview';
import { AwayNotice, Loading } from '../ui/notice';
import { route, to } from './route';

type Shown = ComponentType<{ id: string; revision: string }>;

const AGAIN_MS = 1000;
const LOADS = {
  create: async (): Promise<Shown> => (await import('../pages/create')).Create,
  result: async (): Promise<Shown> => (await import('../pages/result/page')).ResultPage,
  session: async (): Promise<Shown> => (await import('../pages/session')).SessionPage,
};
type Later = keyof typeof LOADS;
type Name = Later | 'label' | 'overview' | 'nowhere';

const loaded = signal<{ readonly [one in Name]?: Shown }>({
  label: LabelPage,
  overview: Overview,
  nowhere: Nowhere,
});
/** Why a page is not there: the service is away, or has other pages since it was updated. */
const lacking = signal<'away' | 'updated' | undefined>(undefined);
const loading = new Map<Later, Promise<void>>();

/** The page that the address means. */
function named(): Name {
  const [kind = '', id = '', part = ''] = route.value;
  if (kind === 'label' || kind === 'create') return kind;
  if (!kind || (kind === 'sessions' && !id)) return 'overview';
  if (kind !== 'sessions') return 'nowhere';
  if (!part) return 'session';
  return part === 'label' || part === 'result' ? part : 'nowhere';
}

/** Load what the address asks for, before it is known who asks. */
export function loadPage(): void {
  const name = named();
  if (name === 'label' || name === 'overview' || name === 'nowhere' || loading.has(name)) return;
  loading.set(name, load(name));
}

async function load(name: Later): Promise<void> {
  while (!loaded.value[name]) {
    try {
      loaded.value = { ...loaded.value, [name]: await LOADS[name]() };
      lacking.value = undefined;
    } catch {
      lacking.value = await greet().then(
        () => 'updated' as const,
        () => 'away' as const,
      );
      await pause(AGAIN_MS);
    }
  }
}

export function Page() {
  const [, id = '', , revision = ''] = route.value;
  const name = named();
  useEffect(loadPage, [name]);
  const Shown = loaded.value[name];
  if (Shown) return <Shown key={id} id={id} revision={revision} />;
  if (lacking.value === 'away') return <AwayNotice />;
  return lacking.value === 'updated' ? <Updated /> : <Loading what="the page" />;
}

function Nowhere() {
  return (
    <>
      <h1>There is no such page</h1>
      <p>
        The address has a mistake, or is of another version. <a href={to()}>Overview</a>
      </p>
    </>
  );
}

function Updated() {
  return (
    <div class="notice warning" role="status">
      <p>The service has been updated, and its pages with it.</p>
      <button type="button" class="main" onClick={() => location.reload()}>
        Load the new pages
      </button>
    </div>
  );
}
