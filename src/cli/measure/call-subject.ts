// The subject of a tool call for display: its path, or else its most informative parameter. All texts are copied: V8's
// substrings reference their parent, so a slice would keep the whole string in memory as long as a report exists.

import type { FileUse, ToolCallBlock, ToolCatalog } from '../../index.js';
import { patchedPaths } from '../../density.js';

/** What a call, entry or edit is about, for display. */
export interface Subject {
  /** The file, or the first one with the number of further ones; `null` if there is none. */
  readonly path: string | null;
  /**
   * Without a path: the most informative parameter of a call, or the start of a text; `null` if there is none. Content of the
   * session: omitted from redacted JSON.
   */
  readonly excerpt: string | null;
}

export const NO_SUBJECT: Subject = { path: null, excerpt: null };

const PATH_KEYS = ['file_path', 'absolute_path', 'notebook_path', 'path', 'filename'];
const PATH_LIST_KEYS = ['paths', 'files', 'include'];
const TELLING_KEYS = ['command', 'cmd', 'commands', 'pattern', 'query', 'url', 'prompt'];
const MAX_EXCERPT_LENGTH = 200;

/** Returns the subject of a call. Tries the parameter keys of the agent's tool catalog first, then common keys. */
export function subjectOfCall(call: ToolCallBlock, catalog: ToolCatalog): Subject {
  const { name, parameters } = call;
  if (typeof parameters === 'string') return { path: null, excerpt: shortExcerpt(parameters) };
  if (typeof parameters !== 'object' || parameters === null) return NO_SUBJECT;
  const values = parameters as Readonly<Record<string, unknown>>;
  const uses = (Object.hasOwn(catalog, name) ? (catalog[name] ?? []) : []).filter(
    (use): use is FileUse => use.access === 'read' || use.access === 'write',
  );
  const keys = (kind: 'pathKeys' | 'pathListKeys' | 'patchKeys'): readonly string[] =>
    uses.flatMap((use) => use[kind] ?? []);
  const path =
    firstText(values, [...keys('pathKeys'), ...PATH_KEYS]) ??
    namePaths(patchedPaths(firstText(values, keys('patchKeys')) ?? '')) ??
    namePaths(firstList(values, [...keys('pathListKeys'), ...PATH_LIST_KEYS]));
  if (path !== null) return { path: copyOf(path), excerpt: null };
  const words = firstText(values, TELLING_KEYS) ?? firstList(values, TELLING_KEYS).join(' ');
  return { path: null, excerpt: shortExcerpt(words === '' ? anyText(values) : words) };
}

/** Returns the first path, followed by the number of other distinct paths, as in `src/a.ts +2`; `null` without paths. */
export function namePaths(paths: readonly string[]): string | null {
  const [first, ...more] = new Set(paths);
  if (first === undefined) return null;
  return copyOf(more.length === 0 ? first : `${first} +${more.length}`);
}

function firstText(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | null {
  for (const key of keys) {
    const value = values[key];
    if (typeof value === 'string' && value !== '') return value;
  }
  return null;
}

function firstList(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): readonly string[] {
  for (const key of keys) {
    const value = values[key];
    if (!Array.isArray(value)) continue;
    const words = value.filter((word) => typeof word === 'string');
    if (words.length > 0) return words;
  }
  return [];
}

function anyText(values: Readonly<Record<string, unknown>>): string {
  return Object.values(values).find((value): value is string => typeof value === 'string') ?? '';
}

/** Returns the start of a text; `null` if it is blank. */
export function shortExcerpt(text: string): string | null {
  const start = text.trimStart().slice(0, MAX_EXCERPT_LENGTH);
  return start === '' ? null : copyOf(start);
}

function copyOf(text: string): string {
  return Array.from(text).join('');
}
