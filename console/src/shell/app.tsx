/** The frame around each page: navigation, sign-in, and what the service says of itself. */
import { useEffect, useState } from 'preact/hooks';
import { greet, may, server } from '../api/caller';
import { asked, signOut, token } from '../api/token';
import { Page } from './pages';
import { go, to } from './route';
import { SignIn } from './sign_in';

export function App() {
  // Pages show what the caller's role allows, so they wait until it is known.
  const [greeted, setGreeted] = useState(false);
  const signedOut = asked.value !== undefined;
  useEffect(() => {
    if (signedOut) setGreeted(false);
    greet()
      .catch(() => undefined)
      .finally(() => {
        if (signedOut) return;
        // Who may do nothing but label comes to do so.
        if (!may.read.value && !location.hash) go('label');
        setGreeted(true);
      });
  }, [token.value, signedOut]);
  const lacks = server.value?.readiness;
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="bar">
        <a class="brand" href={to()}>
          <img src="/assets/icon.svg" alt="" width="24" height="24" /> svddtune
        </a>
        {server.value && !signedOut && may.label.value && <a href={to('label')}>Label</a>}
        <span class="grow" />
        {server.value?.caller?.name && <span class="who">{server.value.caller.name}</span>}
        {token.value && (
          <button type="button" class="plain" onClick={() => signOut('You have signed out.')}>
            Sign out
          </button>
        )}
      </header>
      {lacks && !lacks.ready && lacks.message && (
        <p class="notice warning" role="status">
          {lacks.message}
        </p>
      )}
      <main id="main" tabIndex={-1}>
        {signedOut ? <SignIn reason={asked.value ?? ''} /> : greeted && <Page />}
      </main>
    </>
  );
}
