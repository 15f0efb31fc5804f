// How an engine on a thread of its own is spoken to: what is asked, what it answers, and how the parts of a new body cross
// over without being copied one by one.

import type { ByteRange } from '../body/json-scan.js';
import type { Engine, EngineAnswer, Piece } from './protocol.js';

/** What an engine can be asked; the arguments are those of its methods. */
export type EngineMethod = Exclude<keyof Engine, 'close'>;

/** One question. */
export interface EngineQuestion {
  readonly id: number;
  readonly method: EngineMethod;
  readonly arguments: readonly unknown[];
}

/** What became of a question. */
export interface EngineReply {
  readonly id: number;
  readonly value: unknown;
}

/** An answer with its pieces in two blocks of memory, which go over to the other thread. */
export interface PackedAnswer {
  readonly answer: EngineAnswer;
  /** By threes: 0 for the body that came and 1 for the fresh bytes, then start and end. */
  readonly places: Float64Array<ArrayBuffer>;
  readonly fresh: Uint8Array<ArrayBuffer>;
}

/** Packs an answer that has pieces. */
export function packAnswer(answer: EngineAnswer, pieces: readonly Piece[]): PackedAnswer {
  const places = new Float64Array(pieces.length * 3);
  const parts: Uint8Array[] = [];
  let length = 0;
  for (const [at, piece] of pieces.entries()) {
    const isFresh = !('end' in piece);
    const { start, end } = isFresh ? { start: length, end: length + piece.length } : piece;
    places.set([isFresh ? 1 : 0, start, end], at * 3);
    if (!isFresh) continue;
    parts.push(piece);
    length = end;
  }
  const fresh = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    fresh.set(part, at);
    at += part.length;
  }
  return { answer: { ...answer, pieces: undefined }, places, fresh };
}

/** The answer as it was packed. */
export function unpackAnswer({ answer, places, fresh }: PackedAnswer): EngineAnswer {
  const pieces = Array.from({ length: places.length / 3 }, (_, at): Uint8Array | ByteRange => {
    const [source = 0, start = 0, end = 0] = places.subarray(at * 3, at * 3 + 3);
    return source === 1 ? fresh.subarray(start, end) : { start, end };
  });
  return { ...answer, pieces };
}
