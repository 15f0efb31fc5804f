// The port of a way to prune, which is measured.

import type { IContent } from '../../src/index.js';
import type { RecordedSession } from './recorded-session.js';

/**
 * Told before each model call what was added since the last one; returns what is sent. Entries that did
 * not change keep their identity. What has left does not come back.
 */
export type Sender = (added: readonly IContent[]) => readonly IContent[];

export type PolicyRole = 'own' | 'bound' | 'compared' | 'baseline';

/** One way to prune. */
export interface Policy {
  /** Unique and short: it also stands in the chart. */
  readonly name: string;
  /**
   * Whether it is ctxfold's, a bound that no pruner knows to reach, there to compare with, or a baseline that drops as
   * much as another one without a thought. @default 'compared'
   */
  readonly role?: PolicyRole;
  /** Begins with an empty context. */
  readonly start: (session: RecordedSession) => Sender;
}
