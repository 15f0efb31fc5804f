// What a rule reports about a block, and the types that such a finding consists of.

/** A rule's verdict on something it looked at; the rule adds its facts as fields. */
export interface Finding {
  readonly rule: string;
  readonly reason: string;
}

/**
 * What happens to a block. `cut`: a file inclusion is cut out of its text. `shrunk`: its result is
 * shortened before it is first sent.
 */
export type DensityVerdict =
  'kept' | 'dropped' | 'placeholder' | 'excerpt' | 'cut' | 'shortened' | 'shrunk';

/** What a call is for, by the tool catalog and its parameters. */
export type CallPurpose = 'read' | 'write' | 'search' | 'command' | 'ask' | 'instruct' | 'unknown';

/** A block of the explained history. */
export interface BlockPlace {
  readonly entry: number;
  readonly block: number;
}

/** A call of the explained history. */
export interface CallPlace extends BlockPlace {
  readonly callId: string;
  readonly toolName: string;
}

/** What becomes of a block, and what it is. */
export interface ExplainedSubject {
  readonly verdict: DensityVerdict;
  /** For a call, or the response to one. */
  readonly toolName: string | null;
  /** What the call is for; `null` for other blocks and for responses to unknown calls. */
  readonly purpose: CallPurpose | null;
}
