// Tells which recorded results are originals and which had taken the place of one. The one judgement of
// restoring and listing.

import type { ToolResponseBlock } from '../../shared/content.js';
import { PRUNED_POINTER } from '../../shared/density.js';
import { isExcerpt } from '../../shared/density/index/excerpt.js';
import { placeholderKind } from '../../shared/placeholder.js';
import { checksumOfBlocks } from './removal-record.js';
import type { RemovalRecord } from './removal-record.js';

/** What speaks against a recorded result being an original. */
export interface Doubt {
  /** It looks like a placeholder or an excerpt. */
  readonly looksMade: boolean;
  /** Another session, which may be the same conversation before a restart, has put it in place of a result. */
  readonly standsInElsewhere: boolean;
}

/** How much that is: of several results the latest of those with the least counts. */
export function weightOf({ looksMade, standsInElsewhere }: Doubt): 0 | 1 | 2 {
  if (standsInElsewhere) return 2;
  return looksMade ? 1 : 0;
}

/** What has taken the place of results so far. Records have to come in the order of the file. */
export class StandIns {
  readonly #callIds = new Set<string>();
  /** By call and checksum, the first session that put it in place. */
  readonly #sessions = new Map<string, string>();
  /** By call, checksum and session, the further ones. */
  readonly #further = new Set<string>();

  /** Notes what a record says to have taken the place of a complete response. */
  note({ callId }: ToolResponseBlock, { sessionId, replacementCrc }: RemovalRecord): void {
    if (replacementCrc === undefined) return;
    this.#callIds.add(callId);
    const name = nameOf(replacementCrc, callId);
    const first = this.#sessions.get(name);
    if (first === undefined) this.#sessions.set(name, sessionId);
    else if (first !== sessionId) this.#further.add(nameOf(replacementCrc, callId, sessionId));
  }

  /**
   * Judges a response by the records that were noted before its own.
   *
   * @returns `null` when it is no original: it is not complete, the pruned pointer, or what this session has put in place of one
   */
  judge(response: ToolResponseBlock, { entry, sessionId }: RemovalRecord): Doubt | null {
    const { callId, result, isComplete } = response;
    if (isComplete === false || result === PRUNED_POINTER) return null;
    const looksMade = placeholderKind(response) !== 'none' || isExcerpt(result);
    if (!this.#callIds.has(callId)) return { looksMade, standsInElsewhere: false };
    const crc = checksumOfBlocks(entry);
    const first = this.#sessions.get(nameOf(crc, callId));
    if (first === sessionId || this.#further.has(nameOf(crc, callId, sessionId))) return null;
    return { looksMade, standsInElsewhere: first !== undefined };
  }
}

function nameOf(crc: number, callId: string, sessionId?: string): string {
  return sessionId === undefined ? `${crc} ${callId}` : JSON.stringify([crc, callId, sessionId]);
}
