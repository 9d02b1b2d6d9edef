/** Asks for a token where the service asks for one. */
import { useState } from 'preact/hooks';
import { signIn } from '../api/token';

export function SignIn({ reason }: { reason: string }) {
  const [text, setText] = useState('');
  return (
    <form
      class="card narrow"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim()) signIn(text.trim());
      }}
    >
      <h1>Sign in</h1>
      <p>{reason}</p>
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
