/** What a page says when a call fails or is under way. */
import { ServiceError, Unreachable } from '../api/call';

/** An error as a sentence, with its reason for those who search for it. */
export function ErrorNotice({ error }: { error: unknown }) {
  const text = error instanceof Error ? error.message : String(error);
  return (
    <p class="notice error" role="alert">
      {text} {error instanceof ServiceError && <code>{error.reason}</code>}
    </p>
  );
}

/** An error of a part of a page. That the service is away the page says once, by itself. */
export function PartNotice({ error }: { error: unknown }) {
  return error === undefined || error instanceof Unreachable ? null : <ErrorNotice error={error} />;
}

/** The service is away for now; the page goes on by itself. */
export function AwayNotice() {
  return (
    <p class="notice warning" role="status">
      The service cannot be reached. What you have answered is kept; the page goes on by itself.
    </p>
  );
}

export function Loading({ what }: { what: string }) {
  return (
    <p class="loading" role="status">
      Loading {what} …
    </p>
  );
}
