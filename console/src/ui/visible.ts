/** Text of others as it is: characters that nobody sees, or that turn the direction, become marks. */

// Controls but tab and line feed; marks of direction and joins; tags; the object replacement.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffc]/g;

export function visible(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(UNSEEN, (one) => `⟨U+${one.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`);
}
