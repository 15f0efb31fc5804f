// An index of a removal log by call id, so that a result can be restored without reading the whole file.
// Stores positions in integer columns, no payloads.

import { isToolCallBlock, isToolResponseBlock } from '../../shared/content.js';
import { IntColumn } from '../../shared/density/index/history-columns.js';
import type { LocatedRemoval, RecordPlace } from './removal-reader.js';
import { StandIns } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';

/** A record with a call, or with a response to it that may be the original. */
export interface CallSighting {
  readonly sessionId: string;
  readonly toolName: string;
  readonly place: RecordPlace;
  /** Evidence that the response is not the original; `null` for a call. */
  readonly doubt: Doubt | null;
}

const LOOKS_LIKE_PLACEHOLDER = 1;
const IS_STAND_IN_ELSEWHERE = 2;
const CALL = 4;
/** Offsets exceed 32 bits, so they are split into two columns. */
const LOW_OFFSETS = 2 ** 31;

/** The sightings of each call id. Records must be added in file order. */
export class CallIndex {
  readonly #standIns = new StandIns();
  /** Row of the last sighting, by call id. */
  readonly #lastRows = new Map<string, number>();
  /** Row of the previous sighting of the same call, or -1. */
  readonly #earlierRows = new IntColumn();
  readonly #highOffsets = new IntColumn();
  readonly #lowOffsets = new IntColumn();
  readonly #seqs = new IntColumn();
  readonly #sessions = new IntColumn();
  readonly #tools = new IntColumn();
  readonly #flags = new IntColumn();
  /** Interned session ids and tool names. */
  readonly #names: string[] = [];
  readonly #numbers = new Map<string, number>();

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

  /** Yields the sightings of a call, last one first. */
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
                looksLikePlaceholder: (flags & LOOKS_LIKE_PLACEHOLDER) !== 0,
                isStandInElsewhere: (flags & IS_STAND_IN_ELSEWHERE) !== 0,
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
  return (
    (doubt.looksLikePlaceholder ? LOOKS_LIKE_PLACEHOLDER : 0) |
    (doubt.isStandInElsewhere ? IS_STAND_IN_ELSEWHERE : 0)
  );
}
