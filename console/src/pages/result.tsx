/** What a session has found. */
import { call, path } from '../api/call';
import type { Session } from '../api/schema';
import { sessionName } from '../shell/route';
import { useLoad } from '../ui/load';
import { ErrorNotice, Loading } from '../ui/notice';

export function ResultPage({ id }: { id: string }) {
  const { value, error } = useLoad(
    (signal) => call<{ session: Session }>(path`/v1/${sessionName(id)}`, { signal }),
    [id],
  );
  if (error !== undefined) return <ErrorNotice error={error} />;
  if (!value) return <Loading what="the session" />;
  return <h1>{value.session.displayName || id}</h1>;
}
