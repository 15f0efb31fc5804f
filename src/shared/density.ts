// Density edits as values: what to prune (DensityConfig), what a pass found (DensityResult), and how such a result is
// checked, applied and used to map an index. Reads no payloads.

import type { IContent } from './content.js';
import { CtxfoldError } from './errors.js';
import type { WorkingSetRules } from './density/rules/working-set-rules.js';
import type { ShrinkSettings } from './shrink/shrink-text.js';
import type { ShrinkerName, ShrinkLevel } from './shrink/shrinker.js';
import { types } from 'node:util';
import {
  asObject,
  assertArray,
  assertNumber,
  elementAt,
  isArray,
  kindOf,
  refuse,
} from './misuse.js';
import type { ToolCatalog } from './tool-use.js';

/** The `result` of a response whose payload recency pruning removed. */
export const PRUNED_POINTER = '[Result pruned — re-run tool to retrieve]';

/**
 * The first line of what the working set leaves of a result. It does not suggest running the tool again, which might repeat an
 * action such as a refund or a commit.
 */
export const REMOVED_POINTER = '[Old result removed to save space]';

/**
 * What replaces a removed result. `pointer`: `PRUNED_POINTER`, `REMOVED_POINTER`, or a summary line. `informative`: a summary line
 * that ends with the call's id. `recallable`: one that ends with how to get the original back by that id.
 */
export type PlaceholderForm = 'pointer' | 'informative' | 'recallable';

/**
 * The shape of file inclusions in human entries, and which of them are trusted.
 *
 * - `delimited`: within one text block, a line `--- <path> ---`, the content, a line `--- End of content ---`. Any text of
 *   this shape counts, even inside pasted or included text, and can cut an earlier inclusion of any file.
 * - `asked-for`: the same shape, in entries that ask for each of these files by `@path` before the first inclusion.
 * - `referenced-files`: Gemini CLI's parts, one text block each. One block cannot imitate four of them.
 */
export type InclusionSyntax = 'delimited' | 'asked-for' | 'referenced-files';

/** The specification's shapes, used when a pass is called directly. */
export const DOCUMENTED_INCLUSION_SYNTAXES: readonly InclusionSyntax[] = ['delimited'];

/** The shapes used by sessions, adapters and presets: an included text cannot cut another inclusion. */
export const SAFE_INCLUSION_SYNTAXES: readonly InclusionSyntax[] = [
  'asked-for',
  'referenced-files',
];

/**
 * How far results are shrunk before the model is sent them: not at all, by a level, or by a level
 * with single shrinkers turned off or on. `level` defaults to `default`.
 */
export type ShrinkOption =
  | 'off'
  | ShrinkLevel
  | ({ readonly level?: ShrinkLevel | undefined } & {
      readonly [Name in ShrinkerName]?: boolean | undefined;
    });

/** What a density pass removes. Without the optional fields, the result is the specified one. */
export interface DensityConfig {
  /** Remove reads of files that a later write supersedes. */
  readonly readWritePruning: boolean;
  /** Keep only the latest of several inclusions of one file. */
  readonly fileDedupe: boolean;
  /** Keep only the newest results of each tool. */
  readonly recencyPruning: boolean;
  /** Results that recency pruning keeps per tool name; below 1 means 1. */
  readonly recencyRetention: number;
  /** The absolute path that relative paths are resolved against. */
  readonly workspaceRoot: string;
  /** Which tools read and write files. @default DEFAULT_TOOL_CATALOG */
  readonly toolCatalog?: ToolCatalog;
  /** Which inclusion shapes are recognized. @default ['delimited'], and ['asked-for', 'referenced-files'] in sessions */
  readonly inclusionSyntaxes?: readonly InclusionSyntax[];
  /** Whether a write of a part of a file supersedes earlier reads of it. @default true, and false with a working set */
  readonly partialWritesSupersede?: boolean;
  /** Keep only results that the agent still works with, by these rules. @default all are kept */
  readonly workingSet?: WorkingSetRules;
  /**
   * How far results are shrunk before they are first sent: a level, or a level with single shrinkers turned off or on.
   * @default they are sent unchanged
   */
  readonly shrink?: ShrinkOption;
  /** What recency pruning and the working set replace a result with. @default 'pointer' */
  readonly placeholder?: PlaceholderForm;
}

/** The placeholder form of a pass; `pointer` if not set. */
export function placeholderOf({ placeholder = 'pointer' }: PlaceholderSetting): PlaceholderForm {
  return placeholder;
}

type PlaceholderSetting = Pick<DensityConfig, 'placeholder'>;

/** The inclusion shapes of a pass; the specification's if not set. */
export function syntaxesOf({
  inclusionSyntaxes,
}: Pick<DensityConfig, 'inclusionSyntaxes'>): readonly InclusionSyntax[] {
  return inclusionSyntaxes ?? DOCUMENTED_INCLUSION_SYNTAXES;
}

/** Normalizes the option; `undefined` when nothing is shrunk. */
export function shrinkSettingsOf(option: ShrinkOption | undefined): ShrinkSettings | undefined {
  if (option === undefined || option === 'off') return undefined;
  if (typeof option === 'string') return { level: option };
  return { ...option, level: option.level ?? 'default' };
}

/** The part of a configuration that may differ from one pass over a history to the next. */
export type PassSettings = Pick<
  DensityConfig,
  | 'readWritePruning'
  | 'fileDedupe'
  | 'recencyPruning'
  | 'recencyRetention'
  | 'partialWritesSupersede'
  | 'workingSet'
  | 'shrink'
  | 'placeholder'
>;

/** The defaults of all fields of `DensityConfig` except the workspace root. */
export const DEFAULT_DENSITY_CONFIG: Omit<DensityConfig, 'workspaceRoot'> = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: false,
  recencyRetention: 3,
};

/** How much each rule of a pass removed. */
export interface DensityResultMetadata {
  /** Calls removed together with their responses because a later write supersedes the read. */
  readonly readWritePairsPruned: number;
  /** File inclusions cut out of human entries. */
  readonly fileDeduplicationsPruned: number;
  /** Responses whose payload became a placeholder because newer ones of the same tool exist. */
  readonly recencyPruned: number;
  /** Responses whose payload left the working set and became a placeholder or an excerpt; absent if there is no working set. */
  readonly workingSetPruned?: number;
  /** Responses whose payload was shrunk before it was sent; absent if shrinking is off. */
  readonly resultsShrunk?: number;
}

/** The edits of one pass; all indices are positions in the raw history that was passed to `optimize`. */
export interface DensityResult {
  /** Indices to remove; ascending if `optimize` made the result. */
  readonly removals: readonly number[];
  /** New entries by index. */
  readonly replacements: ReadonlyMap<number, IContent>;
  readonly metadata: DensityResultMetadata;
  /** Which rule edited what, if `optimize` made the result; see `listRuleEdits`. Results of custom strategies omit it. */
  readonly rows?: Int32Array;
}

/** The result that changes nothing. */
export const NO_EDITS: DensityResult = {
  removals: [],
  replacements: new Map(),
  metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
};

/** The state of a history from which an edit was computed. */
export interface DensityBase {
  /** The history's revision; rewriting changes it, appending does not. */
  readonly revision: number;
  /** Number of entries at that time; all indices of the edit are below it. */
  readonly length: number;
}

/** Whether two bases describe the same state of a history. */
export function isSameBase(a: DensityBase, b: DensityBase): boolean {
  return a.revision === b.revision && a.length === b.length;
}

/** Whether a result changes nothing. */
export function isEmptyDensityResult(result: DensityResult): boolean {
  assertDensityResult(result);
  return result.removals.length === 0 && result.replacements.size === 0;
}

/** Returns the lowest index that an edit changes; `Infinity` if it is empty. */
export function firstEditedIndex({
  removals,
  replacements,
}: Pick<DensityResult, 'removals' | 'replacements'>): number {
  let first = Infinity;
  for (const index of removals) first = Math.min(first, index);
  for (const index of replacements.keys()) first = Math.min(first, index);
  return first;
}

/**
 * Checks a result against a history of `length` entries.
 *
 * @throws CtxfoldError `DENSITY_OUT_OF_BOUNDS` for an index that is not an integer in `[0, length)`,
 * `DENSITY_DUPLICATE_INDEX` for one removed twice, `DENSITY_CONFLICT` for one both removed and replaced.
 */
export function validateDensityResult(result: DensityResult, length: number): void {
  assertDensityResult(result);
  assertNumber('length', length);
  const removed = new Set<number>();
  for (const index of result.removals) {
    assertInBounds('removal', index, length);
    if (removed.has(index)) {
      throw new CtxfoldError(
        `DensityResult removes index ${index} twice; list each removal once.`,
        'DENSITY_DUPLICATE_INDEX',
      );
    }
    removed.add(index);
  }
  for (const index of result.replacements.keys()) {
    assertInBounds('replacement', index, length);
    if (removed.has(index)) {
      throw new CtxfoldError(
        `DensityResult conflict: index ${index} is in both removals and replacements; use one.`,
        'DENSITY_CONFLICT',
      );
    }
  }
}

/** @throws TypeError if the value is not a density result. */
function assertDensityResult(result: unknown): void {
  const { removals, replacements } = asObject(result, 'the density result', 'an object');
  if (!isArray(removals)) refuse('removals of the density result', 'an array', removals);
  // Read by index, because an element may be a getter that throws.
  for (let at = 0; at < removals.length; at += 1) {
    if (elementAt('removals', removals, at) === undefined)
      refuse(`removal ${at}`, 'an index', undefined);
  }
  if (types.isMap(replacements)) return;
  refuse('replacements of the density result', 'a Map', replacements);
}

function assertInBounds(kind: string, index: number, length: number): void {
  if (Number.isInteger(index) && index >= 0 && index < length) return;
  throw new CtxfoldError(
    `DensityResult ${kind} index ${typeof index === 'number' ? index : typeof index} is out of bounds [0, ${length}); ` +
      'compute the result from the history that it is applied to.',
    'DENSITY_OUT_OF_BOUNDS',
  );
}

/**
 * Applies a result to `history` in place: completely, or not at all if it is invalid. Replaces first, then removes, in one
 * pass over the entries from the first removal on.
 *
 * @throws CtxfoldError as `validateDensityResult`, or TypeError for a history with holes, before anything changes.
 */
export function applyDensityResult(history: IContent[], result: DensityResult): void {
  assertArray('history', history);
  validateDensityResult(result, history.length);
  const removals = Int32Array.from(result.removals).sort();
  // Checked in advance, because `removeEntries` moves all entries from the first removal on.
  for (let at = removals[0] ?? history.length; at < history.length; at += 1) {
    if (history[at] === undefined)
      throw new TypeError(`Expected a history without holes; entry ${at} is one.`);
  }
  for (const [index, replacement] of result.replacements) history[index] = replacement;
  removeEntries(history, removals);
}

/**
 * Returns the index that the entry at `index` has after `result` is applied, or `null` if it is removed. A replaced entry
 * counts as the same one. Linear in removals.
 *
 * @throws RangeError if `index` is not an array index.
 */
export function mapIndex(result: DensityResult, index: number): number | null {
  if (!Number.isInteger(index) || index < 0) {
    throw new RangeError(`Expected an index of the history before the edit, got ${kindOf(index)}.`);
  }
  assertDensityResult(result);
  let shift = 0;
  for (const removed of result.removals) {
    assertNumber('each removal', removed);
    if (removed === index) return null;
    if (removed < index) shift += 1;
  }
  return index - shift;
}

/** Edits in ascending order of their indices: what is removed, what is replaced, and by what. */
export function inOrder({
  removals,
  replacements,
}: Pick<DensityResult, 'removals' | 'replacements'>): {
  readonly removals: Int32Array;
  readonly replaced: Int32Array;
  readonly contents: IContent[];
} {
  const sorted = [...replacements].sort(([a], [b]) => a - b);
  return {
    removals: Int32Array.from(removals).sort(),
    replaced: Int32Array.from(sorted, ([index]) => index),
    contents: sorted.map(([, entry]) => entry),
  };
}

/** Removes entries, given by ascending index, in one pass. */
function removeEntries(history: IContent[], removals: Int32Array): void {
  let write = removals[0] ?? history.length;
  let at = 0;
  for (let read = write; read < history.length; read += 1) {
    const entry = history[read];
    if (read === removals[at]) at += 1;
    else if (entry !== undefined) history[write++] = entry;
  }
  history.length = write;
}
