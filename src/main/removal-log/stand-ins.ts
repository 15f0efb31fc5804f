// Distinguishes original results from stand-ins, with which passes had replaced them. Shared by restoring and listing, which must
// agree.

import type { ToolResponseBlock } from '../../shared/content.js';
import { isExcerpt } from '../../shared/density/index/excerpt.js';
import { isPointer, placeholderKind } from '../../shared/placeholder.js';
import { checksumOfBlocks } from './removal-record.js';
import type { RemovalRecord } from './removal-record.js';

/** Evidence that a recorded result is not an original. */
export interface Doubt {
  /** Whether the result looks like a placeholder or an excerpt. */
  readonly looksLikePlaceholder: boolean;
  /** Whether another session, which may be the same conversation before a restart, used it as a stand-in. */
  readonly isStandInElsewhere: boolean;
}

/** The stand-ins recorded so far. Records must be noted in file order. */
export class StandIns {
  /** The sessions that used a stand-in, by call id and checksum. */
  readonly #sessions = new Map<string, Map<number, Set<string>>>();

  /** Notes the stand-in that replaced a complete response, if the record has one. */
  note({ callId }: ToolResponseBlock, { sessionId, replacementCrc }: RemovalRecord): void {
    if (replacementCrc === undefined) return;
    const ofCall = this.#sessions.get(callId) ?? new Map<number, Set<string>>();
    const sessions = ofCall.get(replacementCrc) ?? new Set();
    this.#sessions.set(callId, ofCall.set(replacementCrc, sessions.add(sessionId)));
  }

  /**
   * Judges a complete response by the records before its own.
   *
   * @returns `null` if the response is not an original but the pruned pointer or a stand-in of this session
   */
  judge(response: ToolResponseBlock, { entry, sessionId }: RemovalRecord): Doubt | null {
    const { callId, result } = response;
    if (isPointer(result)) return null;
    const looksLikePlaceholder = placeholderKind(response) !== 'none' || isExcerpt(result);
    // Most calls have no stand-in, and need no checksum.
    const sessions = this.#sessions.get(callId)?.get(checksumOfBlocks(entry));
    if (sessions?.has(sessionId) === true) return null;
    return { looksLikePlaceholder, isStandInElsewhere: sessions !== undefined };
  }
}
