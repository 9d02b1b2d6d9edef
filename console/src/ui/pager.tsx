/** Pages of a list, by the tokens that the service gives: forwards and back. */
import { useState } from 'preact/hooks';

export interface Pages {
  /** The token of the page that is shown; empty for the first. */
  token: string;
  number: number;
  /** Show the first page. */
  restart: () => void;
  further: (token: string) => void;
  back: () => void;
}

export function usePages(): Pages {
  const [tokens, setTokens] = useState<string[]>(['']);
  return {
    token: tokens[tokens.length - 1] ?? '',
    number: tokens.length,
    restart: () => setTokens(['']),
    further: (token) => setTokens([...tokens, token]),
    back: () => setTokens(tokens.slice(0, -1)),
  };
}

/** Buttons to the pages around; nothing where there is one page only. */
export function Pager({ pages, next, of }: { pages: Pages; next: string | undefined; of: string }) {
  if (pages.number === 1 && !next) return null;
  return (
    <nav class="row" aria-label={`Pages of ${of}`}>
      <button type="button" disabled={pages.number === 1} onClick={pages.back}>
        Newer
      </button>
      <span>Page {pages.number}</span>
      <button type="button" disabled={!next} onClick={() => next && pages.further(next)}>
        Older
      </button>
    </nav>
  );
}
