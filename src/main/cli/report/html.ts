// How text becomes HTML: whatever is put into a template is escaped, unless it is markup already.

import { printable } from '../terminal/terminal-text.js';
import { shortenEnd } from '../terminal/text-layout.js';

/** Markup, safe to stand in a page as it is. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | readonly Markup[];

/** A template tag: returns markup in which every text is escaped. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const literals = compacted(texts);
  return new Markup(
    parts.reduce<string>(
      (page, part, at) => page + markupOf(part) + (literals[at + 1] ?? ''),
      literals[0] ?? '',
    ),
  );
}

/** Returns an element with content that is no HTML: a script, a style sheet, data. */
export function rawElement(openTag: string, content: string): Markup {
  const name = /\w+/.exec(openTag)?.[0] ?? '';
  return new Markup(`<${openTag}>${content}</${name}>`);
}

const literalsByTemplate = new WeakMap<TemplateStringsArray, readonly string[]>();

/** A ledger has thousands of cells: how the source is indented is not for the page. */
function compacted(texts: TemplateStringsArray): readonly string[] {
  let literals = literalsByTemplate.get(texts);
  if (literals === undefined) {
    literals = texts.map((text) => text.replace(BREAK_BEFORE_BLOCK, '').replace(BREAK, ' '));
    literalsByTemplate.set(texts, literals);
  }
  return literals;
}

const BREAK = /\s*\n\s*/g;
const BREAK_BEFORE_BLOCK =
  /\s*\n\s*(?=<\/?(?:caption|div|section|header|main|footer|figure|figcaption|ul|li|dl|d[dt]|p|h[1-6]|details|summary|meta|link|head|body)\b|<\/?t[a-z]+\b)/g;

/** Nothing, where markup may be left out. */
export const NOTHING: Markup = new Markup('');

/** A name of the session on one line: shortened, and kept from turning the text around it. */
export function named(name: string, maxLength: number = MAX_NAME_LENGTH): Markup {
  return html`<bdi>${shortenEnd(printable(name), maxLength)}</bdi>`;
}

const MAX_NAME_LENGTH = 80;

function markupOf(part: Part): string {
  if (part instanceof Markup) return part.text;
  if (typeof part === 'object') return part.map(({ text }) => text).join('');
  return escapeHtml(String(part));
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Returns a text that means itself in HTML, also between quotes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Returns JSON that may stand in a `script` element: nothing in it ends that or opens a comment. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}
