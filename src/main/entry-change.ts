// What an edit does to one entry, for those who hear of it and those who keep it.

import type { IContent } from '../shared/content.js';

/** One entry that an edit changed: what stood there, and what stands there now. */
export interface EntryChange {
  /** Index in the history before the edit. */
  readonly index: number;
  readonly before: IContent;
  /** `null` when the entry was removed. */
  readonly after: IContent | null;
}
