/** Creates a session from a file. */
export function Create() {
  return <h1>New session</h1>;
}
