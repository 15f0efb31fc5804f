// What the parts of a session remember between two preflights, as plain numbers: what a state keeps of them. Types only.

/** What was sent last. */
export interface SentMemory {
  /** Entries that it was, and how many of them from the start stand as they were. */
  readonly entries: number;
  readonly intactEntries: number;
  /** Milliseconds since then; `null` when nothing was sent. */
  readonly idleMs: number | null;
  readonly reclaimedTokens: number;
}

/** Sums over the requests of one way of sending: all tokens, those read from a cache, those of the last request. */
export type TallyMemory = readonly [sent: number, read: number, last: number];

/** What requests have come to. */
export interface CostMemory {
  readonly requests: number;
  readonly rewrites: number;
  readonly compacted: TallyMemory;
  readonly uncompacted: TallyMemory;
  /** `null` where the price of a model was not known. @default that */
  readonly dollars?: DollarMemory | null | undefined;
}

/** What the input has cost, in dollars, and by rule the tokens that it has taken away and the dollars that it has saved. */
export interface DollarMemory {
  readonly with: number;
  readonly without: number;
  readonly rules: readonly (readonly [rule: string, tokens: number, dollars: number])[];
}

/** What density passes have seen. */
export interface PassMemory {
  /** The length at which the next batch of edits may land. */
  readonly nextPoint: number;
  /** Whether the last pass has left nothing to do in what had been added by then. */
  readonly isSettled: boolean;
}

/** What a report of usage will be compared with; `null` when there is nothing. */
export interface RequestMemory {
  /** Entries that came in since. */
  readonly addedSince: number;
  readonly countedTokens: number | null;
  readonly pendingTokens: number;
}

/** What a session remembers besides its history. */
export interface SessionMemory {
  readonly sent: SentMemory;
  readonly costs: CostMemory;
  readonly passes: PassMemory;
  /** Tokens that the history must have for the next compression. */
  readonly floorTokens: number;
  readonly request: RequestMemory | null;
}
