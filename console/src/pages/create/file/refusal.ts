/** What is wrong with a file, by the reasons that the command line has for it. */

/** The file, or the choice of columns, cannot be used: `reason` is stable, the message is for people. */
export class Refusal extends Error {
  constructor(
    readonly reason: string,
    message: string,
    /** The column at fault, where there is one. */
    readonly column?: number,
  ) {
    super(message);
  }
}

/** A text as a person may see it in a sentence: in quotes, and short. */
export function quoted(text: string): string {
  return `“${text.length > 60 ? `${text.slice(0, 60)}…` : text}”`;
}
