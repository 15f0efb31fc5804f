// Shared memory for the bodies of requests, made ready between them. The system maps a page of new memory when it is first written to,
// which takes several times as long as writing to it again: for 1 MB in a virtual machine, 0.7 ms of the time that a request waits.

import { inTurns, nextTurn } from '../../main/waiting/event-loop-turn.js';

const PAGE_BYTES = 4_096;
/** Pages that are mapped between two looks at the clock. */
const PAGES_PER_SLICE = 16;
/** Shorter bodies take too little time, and longer ones too much memory. */
const MIN_BYTES = 64 * 1024;
const MAX_BYTES = 16 * 1024 * 1024;
/** By how much a conversation's next body may be longer than its last one. */
const GROWTH = 1.0625;
/** How much longer than a body its memory may be: it is kept until the conversation's next request. */
const MAX_SLACK = 1.5;

/** Has memory for one body ready. */
export class SpareMemory {
  #spare: Buffer | undefined;
  #isPreparing = false;

  /** Returns zeroed shared memory of at least this size. @throws RangeError if there is not enough */
  take(bytes: number): Buffer {
    const spare = this.#spare;
    if (spare === undefined || !isFitting(spare, bytes)) return allocate(bytes);
    this.#spare = undefined;
    return spare;
  }

  /** Makes memory ready for the body after one of this size, in turns of the event loop. */
  prepare(bytes: number): void {
    if (this.#isPreparing || bytes < MIN_BYTES || bytes > MAX_BYTES) return;
    const next = Math.ceil(bytes * GROWTH);
    if (this.#spare !== undefined && isFitting(this.#spare, next)) return;
    this.#isPreparing = true;
    this.#spare = undefined;
    // The answer to the request comes first.
    void nextTurn()
      .then(() => inTurns(mapped(next)))
      .then((spare) => {
        this.#isPreparing = false;
        this.#spare = spare;
      });
  }
}

function isFitting({ length }: Buffer, bytes: number): boolean {
  return length >= bytes && length <= bytes * MAX_SLACK;
}

function allocate(bytes: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(bytes));
}

/** Returns memory whose pages are mapped; `undefined` if there is not enough. */
function* mapped(bytes: number): Generator<void, Buffer | undefined, undefined> {
  let memory: Buffer;
  try {
    memory = allocate(bytes);
  } catch {
    return undefined;
  }
  for (let at = 0; at < bytes; at += PAGE_BYTES) {
    memory[at] = 0;
    if (at % (PAGES_PER_SLICE * PAGE_BYTES) === 0) yield;
  }
  return memory;
}
