// The violations of a history's rules, as data.

/** The name of each rule that a history can break. */
export type ViolationRule =
  /** A call has no response, although an ai or human entry follows it. */
  | 'unpaired-call'
  /** A response names a call that is not in the history. */
  | 'unpaired-response'
  /** A response is before the call that it names. */
  | 'response-before-call'
  /** A response names a call that another response answered. */
  | 'duplicate-response'
  | 'call-outside-ai'
  | 'response-outside-tool'
  /** An entry has no blocks, or only blocks without content. */
  | 'empty-entry'
  /** An ai entry has reasoning and nothing else. */
  | 'reasoning-only'
  /** A text has half of a surrogate pair. */
  | 'lone-surrogate'
  /** A thinking or opaque block, or an entry's `providerMetadata`, differs from the base. */
  | 'opaque-changed'
  /** Kept entries are in another order than in the base, or one is there twice. */
  | 'out-of-order'
  /** The base's newest human entry that is not a summary is missing. */
  | 'newest-human-lost';

/** One breach of a rule. */
export interface Violation {
  readonly rule: ViolationRule;
  /** Index in the history; with `newest-human-lost`, index in the base. */
  readonly entry: number;
  /** Index in the entry's blocks, if one block is to blame. */
  readonly block?: number;
  /** For people; its wording may change. */
  readonly message: string;
}
