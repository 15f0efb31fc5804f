// HTML templates: interpolated values are escaped unless they are `Markup`.

import { escaped, printable } from '../terminal/terminal-text.js';
import { shortenEnd } from '../terminal/text-layout.js';

/** Markup that is inserted unescaped. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = Markup | string | number | readonly Markup[];

/** Template tag that escapes every interpolated text. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Markup {
  const literals = compacted(texts);
  return new Markup(
    parts.reduce<string>(
      (page, part, at) => page + markupOf(part) + (literals[at + 1] ?? ''),
      literals[0] ?? '',
    ),
  );
}

/** Returns an element with raw content: a script, a style sheet, data. */
export function rawElement(openTag: string, content: string): Markup {
  const name = /\w+/.exec(openTag)?.[0] ?? '';
  return new Markup(`<${openTag}>${content}</${name}>`);
}

const literalsByTemplate = new WeakMap<TemplateStringsArray, readonly string[]>();

/** Removes the indentation of templates, whose bytes would add up over thousands of table cells. Cached by template. */
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

/** Returns head cells. */
export function headCells(
  names: readonly (Markup | string)[],
  className: 'number' | '' = '',
): readonly Markup[] {
  const attribute = className === '' ? '' : ` class="${className}"`;
  return names.map((name) => new Markup(`<th scope="col"${attribute}>${markupOf(name)}</th>`));
}

/** Returns a row of a table: its name, other cells, then figures; an empty figure is an empty cell. */
export function figureRow(
  name: Markup | string,
  figures: readonly string[],
  cells: Markup = NOTHING,
): Markup {
  const numbers = figures.map((figure) =>
    figure === '' ? '<td></td>' : `<td class="number">${escapeHtml(figure)}</td>`,
  );
  return new Markup(
    `<tr><th scope="row">${markupOf(name)}</th>${cells.text}${numbers.join('')}</tr>`,
  );
}

/** The parts of a table. */
interface Table {
  /** Attribute of the element. */
  readonly attribute: string;
  /** For screen readers only. */
  readonly caption: string;
  /** Head cells. @default no head */
  readonly head?: readonly Markup[];
  readonly rows: readonly Markup[];
}

/** Returns a table that scrolls sideways if it is too wide. */
export function tableMarkup({ attribute, caption, head, rows }: Table): Markup {
  const thead = head === undefined ? '' : `<thead><tr>${markupOf(head)}</tr></thead>`;
  return new Markup(
    `<div class="scroll"><table ${attribute}><caption class="hidden"> ${escapeHtml(caption)}</caption>` +
      `${thead}<tbody> ${markupOf(rows)}</tbody></table></div>`,
  );
}

/** Empty markup. */
export const NOTHING: Markup = new Markup('');

/** Returns a name from the session on one line, shortened and with its text direction isolated. */
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

/** Escapes a text for content and quoted attributes. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Returns JSON for a `script` element; it can neither close the element nor open a comment. */
export function scriptJson(value: unknown): string {
  return JSON.stringify(value).replace(/[<>&\u2028\u2029]/g, escaped);
}

/** Returns a share as a percentage for SVG and CSS, such as `12.34%`. */
export function percent(part: number, whole: number): string {
  return `${Number(((part / whole) * 100).toFixed(2))}%`;
}
