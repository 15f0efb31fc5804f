// An index of a removal log by call id, so that a result can be restored without reading the whole file.
// Stores positions, no payloads.

import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import type { LocatedRemoval, RecordPlace } from './removal-reader.js';
import { StandIns } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';
import { pushTo } from '../../shared/lists-by-key.js';

/** A record that contains a call, or a response to it that may be the original. */
export interface CallSighting {
  readonly sessionId: string;
  readonly toolName: string;
  readonly place: RecordPlace;
  /** Evidence that the response is not the original; `null` for a call. */
  readonly doubt: Doubt | null;
}

/** The sightings of each call id. Records must be added in file order. */
export class CallIndex {
  readonly #standIns = new StandIns();
  readonly #sightings = new Map<string, CallSighting[]>();
  /** Interned session ids and tool names, of which every record would otherwise add its own copy. */
  readonly #names = new Map<string, string>();

  /** @param onlyCallId skips all other calls */
  note({ record, location }: LocatedRemoval, onlyCallId?: string): void {
    const { sessionId, entry } = record;
    const place = { offset: location.offset, seq: record.seq };
    for (const block of entry.blocks) {
      if (isToolCallBlock(block)) {
        if (block.id !== (onlyCallId ?? block.id)) continue;
        this.#add(block.id, { sessionId, toolName: block.name, place, doubt: null });
      } else if (isToolResponseBlock(block) && block.isComplete !== false) {
        const { callId, toolName } = block;
        if (callId !== (onlyCallId ?? callId)) continue;
        const doubt = this.#standIns.judge(block, record);
        if (doubt !== null) this.#add(callId, { sessionId, toolName, place, doubt });
        this.#standIns.note(block, record);
      }
    }
  }

  /** The sightings of a call, last one first. */
  sightings(callId: string): readonly CallSighting[] {
    return this.#sightings.get(callId)?.toReversed() ?? [];
  }

  #add(callId: string, { sessionId, toolName, place, doubt }: CallSighting): void {
    const names = { sessionId: this.#kept(sessionId), toolName: this.#kept(toolName) };
    const sighting = { ...names, place, doubt };
    pushTo(this.#sightings, callId, sighting);
  }

  #kept(name: string): string {
    const kept = this.#names.get(name);
    if (kept !== undefined) return kept;
    this.#names.set(name, name);
    return name;
  }
}
