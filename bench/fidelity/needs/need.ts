// A need: something that an agent's answer used or must not lose, and the blocks that showed it. Plain data; each kind is found
// in a file of its own.

import type { ContentBlock } from '../../../src/index.js';

/** The kinds of needs, in the order of the tables. */
export const NEED_KINDS = [
  'edit',
  'id-edit',
  'id-read',
  'id-search',
  'id-command',
  'id-other',
  'quote',
  'error',
  'words',
] as const;

/**
 * `edit`: text that an edit replaced. `id-…`: the first use of a rare identifier that only results had shown, by the kind of
 * call that used it. `quote`: 40 characters or more taken from a result. `error`: the failure of a command that the
 * agent comes back to. `words`: what a user wrote.
 */
export type NeedKind = (typeof NEED_KINDS)[number];

/** The first use of identifiers by calls that write nothing, together. */
export const OTHER_IDENTIFIERS: readonly NeedKind[] = [
  'id-read',
  'id-search',
  'id-command',
  'id-other',
];

/** Kinds that an answer provably used: if it was not in view, it had to be fetched. */
export const USED_KINDS: ReadonlySet<NeedKind> = new Set<NeedKind>([
  'edit',
  'id-edit',
  ...OTHER_IDENTIFIERS,
  'quote',
]);

/** One need of one answer. It is met when each of its lines is in view. */
export interface Need {
  readonly kind: NeedKind;
  /** Index of the entry with the answer. The model knew the entries before it. */
  readonly entry: number;
  /** The call that needs it; empty for a need of the answer as a whole. */
  readonly callId: string;
  readonly tool: string;
  /** The file that the call edits; empty for others. */
  readonly file: string;
  /** The idf of an identifier, else 1. */
  readonly weight: number;
  /** Texts that must be in view, each at most a line. */
  readonly lines: readonly string[];
  /** For each line, the blocks before the answer that show it, oldest first; at least one. */
  readonly shownBy: readonly (readonly ContentBlock[])[];
}
