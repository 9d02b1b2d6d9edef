/** Asks who the person is, where the service asks: at its issuer, or by a token. */
import { useState } from 'preact/hooks';
import { server } from '../api/caller';
import { begin, type IssuerSettings } from '../api/issuer';
import { signIn } from '../api/token';

export function SignIn({ reason }: { reason: string }) {
  const { issuer, clientId, scopes } = server.value?.signIn ?? {};
  return (
    <section class="card narrow">
      <h1>Sign in</h1>
      <p role="status">{reason}</p>
      {issuer && clientId ? (
        <>
          <AtIssuer at={{ issuer, clientId, scopes: scopes ?? [] }} />
          <details>
            <summary>Show a token instead</summary>
            <ByToken />
          </details>
        </>
      ) : (
        <ByToken />
      )}
    </section>
  );
}

function AtIssuer({ at }: { at: IssuerSettings }) {
  const [failed, setFailed] = useState('');
  const leave = () => {
    setFailed('');
    begin(at).catch((error: unknown) => setFailed(error instanceof Error ? error.message : String(error)));
  };
  return (
    <>
      <button type="button" class="main" onClick={leave}>
        Sign in at {new URL(at.issuer).host}
      </button>
      {failed && (
        <p class="notice error" role="alert">
          {failed}
        </p>
      )}
      <p class="hint">You come back to this page. What the issuer gives stays in this tab.</p>
    </>
  );
}

function ByToken() {
  const [text, setText] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) signIn(text.trim());
      }}
    >
      <label>
        Token
        <input
          type="password"
          autocomplete="off"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <p class="hint">The token stays in this tab and is forgotten when you close it.</p>
      <button type="submit" class="main">
        Sign in
      </button>
    </form>
  );
}
