// Which files a tool call touches, read from its parameters as a tool catalog says. Looks at no
// parameter but those that the catalog names.

import type { FileUse, ToolUse } from '../../tool-catalog.js';

/** The files that one call touches, under the spellings of its parameters. */
export interface FileAccess {
  readonly access: FileUse['access'];
  readonly extent: FileUse['extent'];
  /** At least one; none is empty. */
  readonly paths: readonly string[];
}

/**
 * Tells which files a call touches, or `undefined` when its parameters do not say so for certain:
 * no object, no known key, a path that is no string or empty, a list that a glob pattern keeps open.
 */
export function fileAccess(uses: readonly ToolUse[], parameters: unknown): FileAccess | undefined {
  const use = useOf(uses, parameters);
  if (use === undefined || use.access === 'search' || use.access === 'run') return undefined;
  return accessBy(use, parameters);
}

/** Which of a tool's uses a call is; a call whose parameters are no object is the first that asks nothing of them. */
export function useOf(uses: readonly ToolUse[], parameters: unknown): ToolUse | undefined {
  return uses.find(
    ({ when, has }) =>
      (when === undefined || holds(when, parameters)) &&
      (has === undefined || hasOneOf(has, parameters)),
  );
}

/** The files that a call of this use touches; `undefined` as for `fileAccess`. */
export function accessBy(use: FileUse, parameters: unknown): FileAccess | undefined {
  if (typeof parameters !== 'object' || parameters === null) return undefined;
  const paths = namedPaths(use, parameters as Readonly<Record<string, unknown>>);
  return paths === undefined || paths.length === 0
    ? undefined
    : { access: use.access, extent: use.extent, paths };
}

function holds(when: NonNullable<ToolUse['when']>, parameters: unknown): boolean {
  if (typeof parameters !== 'object' || parameters === null) return false;
  const value = (parameters as Readonly<Record<string, unknown>>)[when.key];
  return typeof value === 'string' && when.values.includes(value);
}

function hasOneOf(keys: readonly string[], parameters: unknown): boolean {
  if (typeof parameters !== 'object' || parameters === null) return false;
  return firstPresent(keys, parameters as Readonly<Record<string, unknown>>) !== undefined;
}

function namedPaths(
  use: FileUse,
  values: Readonly<Record<string, unknown>>,
): readonly string[] | undefined {
  const path = firstPresent(use.pathKeys, values);
  if (path !== undefined) return typeof path === 'string' && path !== '' ? [path] : undefined;
  const list = firstPresent(use.pathListKeys, values);
  if (list !== undefined) return concretePaths(list, use);
  const patch = firstPresent(use.patchKeys, values);
  return typeof patch === 'string' ? patchedPaths(patch) : undefined;
}

function firstPresent(
  keys: readonly string[] | undefined,
  values: Readonly<Record<string, unknown>>,
): unknown {
  for (const key of keys ?? []) {
    const value = values[key];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** A read whose glob patterns may have matched anything is not known; a write of some known files is. */
function concretePaths(list: unknown, use: FileUse): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const paths: string[] = [];
  for (const item of list as readonly unknown[]) {
    const path = use.pathListItemKey === undefined ? item : propertyOf(item, use.pathListItemKey);
    if (typeof path !== 'string' || path === '') return undefined;
    if (!/[*?]/.test(path)) paths.push(path);
    else if (use.access === 'read') return undefined;
  }
  return paths;
}

function propertyOf(item: unknown, key: string): unknown {
  return typeof item === 'object' && item !== null
    ? (item as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

const PATCHED_FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

function patchedPaths(patch: string): readonly string[] {
  return Array.from(patch.matchAll(PATCHED_FILE), (match) => match[1]?.trim() ?? '').filter(
    (path) => path !== '',
  );
}
