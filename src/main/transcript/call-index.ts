// Where a transcript mentions which tool call, so that a result can be restored without reading the
// whole file. Holds places, never payloads.

import type { IContent } from '../../shared/content.js';
import { PRUNED_POINTER } from '../../shared/density.js';
import type { RecordLocation } from './removal-reader.js';

/** A record that holds the call or a complete response of one call id. */
export interface CallSighting {
  readonly seq: number;
  readonly sessionId: string;
  readonly location: RecordLocation;
  /** `pruned`: a response whose payload was the pointer already. */
  readonly holds: 'call' | 'response' | 'pruned';
  /** The tool's name. */
  readonly toolName: string;
  /** `RemovalRecord.replacementCrc` of the record. */
  readonly replacementCrc: number | undefined;
}

/** What an index needs to know of a record. */
export interface IndexedRemoval {
  readonly seq: number;
  readonly sessionId: string;
  readonly entry: IContent;
  readonly replacementCrc?: number | undefined;
}

/** The sightings of each call id, in the order of the file. */
export class CallIndex {
  readonly #sightings = new Map<string, CallSighting[]>();

  note({ seq, sessionId, entry, replacementCrc }: IndexedRemoval, location: RecordLocation): void {
    const see = (callId: string, holds: CallSighting['holds'], toolName: string): void => {
      const sighting = { seq, sessionId, location, holds, toolName, replacementCrc };
      const known = this.#sightings.get(callId);
      if (known === undefined) this.#sightings.set(callId, [sighting]);
      else known.push(sighting);
    };
    for (const block of entry.blocks) {
      if (block.type === 'tool_call') {
        see(block.id, 'call', block.name);
      } else if (block.type === 'tool_response' && block.isComplete !== false) {
        see(block.callId, block.result === PRUNED_POINTER ? 'pruned' : 'response', block.toolName);
      }
    }
  }

  sightings(callId: string): readonly CallSighting[] {
    return this.#sightings.get(callId) ?? [];
  }
}
