/** What a text of the upload is, by its content alone: decides how it is shown. */

export type Kind =
  | { kind: 'link'; address: string }
  | { kind: 'image'; address: string }
  | { kind: 'json'; value: object }
  | { kind: 'lines' }
  | { kind: 'text' };

const LONGEST_ADDRESS = 2048;
const LONGEST_IMAGE = 2_000_000;
const LONGEST_JSON = 100_000;
// (No SVG: it is a document.)
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}$/;

export function kindOf(text: string): Kind {
  if (/^https?:\/\//i.test(text)) return linkOf(text);
  if (text.startsWith('data:')) {
    return text.length <= LONGEST_IMAGE && IMAGE.test(text) ? { kind: 'image', address: text } : { kind: 'text' };
  }
  if (/^\s*[[{]/.test(text) && text.length <= LONGEST_JSON) {
    const value = parsed(text);
    if (value) return { kind: 'json', value };
  }
  return { kind: /[\n\t]/.test(text.trim()) ? 'lines' : 'text' };
}

function linkOf(text: string): Kind {
  // What looks different from what it is is no link: spaces, marks of direction, a name before the host.
  if (text.length > LONGEST_ADDRESS || !/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return { kind: 'text' };
  const url = new URL(text);
  const plain = (url.protocol === 'http:' || url.protocol === 'https:') && !url.username && !url.password;
  return plain ? { kind: 'link', address: url.href } : { kind: 'text' };
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
