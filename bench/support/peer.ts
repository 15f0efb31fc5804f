// What a user might pick to keep a history dense, as the benchmark meets it. Types only.

import type { IContent } from '../../src/index.js';
import type { PeerBudget } from './peer-budget.js';

/** One tool in one configuration. */
export interface Peer {
  readonly name: string;
  /** What it does and leaves undone, and how it was configured. */
  readonly note: string;
  /** Whether it makes the documented density pass by its defaults: all that do must agree. */
  readonly isDocumentedPass: boolean;
  /** Takes a history over: imports and conversions, which are not measured. The array is the peer's. */
  open(history: IContent[], budget: PeerBudget): Promise<PeerSession>;
}

/** A tool at work on one history. */
export interface PeerSession {
  /**
   * Converts what a turn adds, and returns that turn: all that is measured. The first turn includes
   * whatever the tool sets up.
   */
  prepareTurn(added: readonly IContent[]): () => Promise<void>;
  /** What would be sent to the model now, as entries. */
  sent(): readonly IContent[];
  /** Tokens that the tool itself counted exactly, or `undefined` when it does not count. */
  countedTokens(): number | undefined;
  close(): Promise<void>;
}
