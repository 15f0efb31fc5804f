// The interface of a policy under measurement.

import type { IContent } from '../../src/index.js';
import type { RecordedSession } from './recorded-session.js';

/**
 * Called before each model call with the entries added since the last; returns what is sent. Unchanged entries keep their
 * identity. Removed content never comes back.
 */
export type Sender = (added: readonly IContent[]) => readonly IContent[];

export type PolicyRole = 'own' | 'bound' | 'compared' | 'baseline';

/** A way to prune. */
export interface Policy {
  /** Unique and short, because it labels the chart. */
  readonly name: string;
  /**
   * `own`: one of ctxfold's. `bound`: the best that any pruner could do. `compared`: an alternative. `baseline`: drops as much as
   * another policy, naively. @default 'compared'
   */
  readonly role?: PolicyRole;
  /** Starts with an empty context. */
  readonly start: (session: RecordedSession) => Sender;
}
