// The benchmark's interface to a tool that keeps a history dense. Types only.

import type { IContent } from '../../src/index.js';
import type { PeerBudget } from './peer-budget.js';

/** One tool in one configuration. */
export interface Peer {
  readonly name: string;
  /** What it does and does not do, and its configuration. */
  readonly note: string;
  /** Whether its defaults make the documented density pass, on which all such tools must agree. */
  readonly isDocumentedPass: boolean;
  /** Takes ownership of a history: imports and conversions, which are not measured. */
  open(history: IContent[], budget: PeerBudget): Promise<PeerSession>;
}

/** A tool working on one history. */
export interface PeerSession {
  /**
   * Converts the entries that a turn adds, and returns the turn, which alone is measured. The first turn includes the tool's
   * setup.
   */
  prepareTurn(added: readonly IContent[]): () => Promise<void>;
  /** What would be sent to the model now, as entries. */
  sent(): readonly IContent[];
  /** Tokens by the tool's own exact count, or `undefined` if it does not count. */
  countedTokens(): number | undefined;
  close(): Promise<void>;
}
