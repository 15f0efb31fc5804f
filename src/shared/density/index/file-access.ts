// Determines which files a call touches, by the use of its tool and the call's parameters.

import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';
import { assertString } from '../../misuse.js';
import type { FileUse, ToolUse } from '../../tool-use.js';

/**
 * Selects the use that applies to a call. Parameters that are no object match the first
 * unconditional use.
 */
export function useOf(uses: readonly ToolUse[], parameters: unknown): ToolUse | undefined {
  return uses.find(
    ({ when, has }) =>
      (when === undefined || holds(when, parameters)) &&
      (has === undefined || firstPresent(has, asRecord(parameters) ?? {}) !== undefined),
  );
}

/**
 * Returns the files that a call of this use touches, spelled as in its parameters: at least one, and no empty strings. `undefined` if
 * its parameters do not tell for certain: not an object, no known key, a path that is empty or not a string, a glob pattern.
 */
export function pathsOf(use: FileUse, parameters: unknown): readonly string[] | undefined {
  const values = asRecord(parameters);
  const paths = values && namedPaths(use, values);
  return paths === undefined || paths.length === 0 ? undefined : paths;
}

export function isFileUse(use: ToolUse): use is FileUse {
  return use.access === 'read' || use.access === 'write';
}

/** The parameters that hold the files of a use. */
export function fileKeysOf({
  pathKeys = [],
  pathListKeys = [],
  patchKeys = [],
}: FileUse): readonly string[] {
  return [...pathKeys, ...pathListKeys, ...patchKeys];
}

/**
 * Whether a call has parameters but none that its use takes files from: then the tool is not the
 * one in the catalog. Commands do not count: some calls legitimately have no command, as to read
 * more of the last one's output.
 */
export function contradicts(use: ToolUse, parameters: unknown): use is FileUse {
  if (!isFileUse(use)) return false;
  const values = asRecord(parameters);
  const keys = fileKeysOf(use);
  if (values === undefined || keys.length === 0 || Object.keys(values).length === 0) return false;
  return firstPresent(keys, values) === undefined;
}

function holds(when: NonNullable<ToolUse['when']>, parameters: unknown): boolean {
  const value = asRecord(parameters)?.[when.key];
  const text = typeof value === 'boolean' ? String(value) : value;
  return typeof text === 'string' && when.values.includes(text);
}

function namedPaths(use: FileUse, values: JsonRecord): readonly string[] | undefined {
  const path = firstPresent(use.pathKeys, values);
  if (path !== undefined) return typeof path === 'string' && path !== '' ? [path] : undefined;
  const list = firstPresent(use.pathListKeys, values);
  if (list !== undefined) return concretePaths(list, use);
  const patch = firstPresent(use.patchKeys, values);
  return typeof patch === 'string' ? patchedPaths(patch) : undefined;
}

function firstPresent(keys: readonly string[] | undefined, values: JsonRecord): unknown {
  for (const key of keys ?? []) {
    const value = values[key];
    if (value !== undefined && value !== null) return value;
  }
  return undefined;
}

/** With a glob, the files of a read are unknown; a write keeps its concrete ones. */
function concretePaths(list: unknown, use: FileUse): readonly string[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const paths: string[] = [];
  for (const item of list as readonly unknown[]) {
    const path = use.pathListItemKey === undefined ? item : asRecord(item)?.[use.pathListItemKey];
    if (typeof path !== 'string' || path === '') return undefined;
    if (!/[*?]/.test(path)) paths.push(path);
    else if (use.access === 'read') return undefined;
  }
  return paths;
}

const PATCHED_FILE = /^\*\*\* (?:Add File|Update File|Delete File|Move to): (.+)$/gm;

/**
 * Returns the files that a patch in the Codex format names, including move targets.
 *
 * @throws TypeError when `patch` is not a string.
 */
export function patchedPaths(patch: string): readonly string[] {
  assertString('patch', patch);
  return Array.from(patch.matchAll(PATCHED_FILE), (match) => match[1]?.trim() ?? '').filter(
    (path) => path !== '',
  );
}
