// Where a removal log mentions which tool call, so that a result can be restored without reading the
// whole file. Holds places as columns of small numbers, never payloads.

import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { IntColumn } from '../../shared/density/index/history-columns.js';
import type { LocatedRemoval, RecordPlace } from './removal-reader.js';
import { StandIns } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';

/** A record that holds the call of one call id, or a response to it that may be the original. */
export interface CallSighting {
  readonly sessionId: string;
  readonly toolName: string;
  readonly place: RecordPlace;
  /** What speaks against the response; `null` for the call. */
  readonly doubt: Doubt | null;
}

const LOOKS_MADE = 1;
const STANDS_IN_ELSEWHERE = 2;
const CALL = 4;
/** Offsets exceed what a column holds. */
const LOW_OFFSETS = 2 ** 31;

/** The sightings of each call id. Records have to come in the order of the file. */
export class CallIndex {
  readonly #standIns = new StandIns();
  /** By call id, the row of its last sighting. */
  readonly #lastRows = new Map<string, number>();
  /** The sighting of the same call before, or -1. */
  readonly #earlierRows = new IntColumn();
  readonly #highOffsets = new IntColumn();
  readonly #lowOffsets = new IntColumn();
  readonly #seqs = new IntColumn();
  readonly #sessions = new IntColumn();
  readonly #tools = new IntColumn();
  readonly #flags = new IntColumn();
  /** Ids of sessions and names of tools, and the place of each. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

  /** @param onlyCallId leaves out what other calls hold */
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

  /** The sightings of a call, the last one first. */
  *sightings(callId: string): Generator<CallSighting> {
    let row = this.#lastRows.get(callId) ?? -1;
    for (; row !== -1; row = this.#earlierRows.at(row)) {
      const flags = this.#flags.at(row);
      yield {
        sessionId: this.#names[this.#sessions.at(row)] ?? '',
        toolName: this.#names[this.#tools.at(row)] ?? '',
        place: {
          offset: this.#highOffsets.at(row) * LOW_OFFSETS + this.#lowOffsets.at(row),
          seq: this.#seqs.at(row),
        },
        doubt:
          (flags & CALL) === 0
            ? {
                looksMade: (flags & LOOKS_MADE) !== 0,
                standsInElsewhere: (flags & STANDS_IN_ELSEWHERE) !== 0,
              }
            : null,
      };
    }
  }

  #add(callId: string, { sessionId, toolName, place, doubt }: CallSighting): void {
    const row = this.#flags.length;
    this.#earlierRows.push(this.#lastRows.get(callId) ?? -1);
    this.#lastRows.set(callId, row);
    this.#highOffsets.push(Math.floor(place.offset / LOW_OFFSETS));
    this.#lowOffsets.push(place.offset % LOW_OFFSETS);
    this.#seqs.push(place.seq | 0);
    this.#sessions.push(this.#numberOf(sessionId));
    this.#tools.push(this.#numberOf(toolName));
    this.#flags.push(flagsOf(doubt));
  }

  #numberOf(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }
}

function flagsOf(doubt: Doubt | null): number {
  if (doubt === null) return CALL;
  return (doubt.looksMade ? LOOKS_MADE : 0) | (doubt.standsInElsewhere ? STANDS_IN_ELSEWHERE : 0);
}
