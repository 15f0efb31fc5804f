// The conversations that went through a gateway, each as the body that it came in last: which one a request goes on
// with, and which of its messages are known. Compacts nothing.

import { createHash } from 'node:crypto';
import { isSameButForCacheMarks } from '../../adapters/cache-marks.js';
import { commonPrefixLength } from '../body/common-prefix.js';
import { skipSpace, skipValue } from '../body/json-scan.js';
import type { ByteRange } from '../body/json-scan.js';
import type { ListInBody } from '../body/list-in-body.js';
import { isFromModel, isFromUser } from './apis.js';
import type { ApiName } from './apis.js';

/** A conversation. */
export interface Line {
  readonly id: string;
  readonly scope: string;
  readonly api: ApiName;
  readonly name: string | undefined;
  /** The list as it came last, and what was parsed of it. */
  list: ListInBody;
  /** Equal for lists that begin with the same message. */
  firstKey: number;
  messages: readonly object[];
}

/** What a body begins with that came before. */
export interface KnownStart {
  /** The line that it came in last. */
  readonly line: Line | undefined;
  /** Messages that are the same bytes, as they were parsed. */
  readonly messages: readonly object[];
  /** Their places in the new body. */
  readonly elements: readonly ByteRange[];
}

const CLOSE_LIST = 0x5d;
const CLOSE_OBJECT = 0x7d;
/** All bodies that are kept together may have so many bytes, whatever their number. */
const MAX_KEPT_BYTES = 256 * 1024 * 1024;

/** The lines of a gateway; the one that was used last stands last. */
export class Lines {
  readonly #maxLines: number;
  readonly #lines = new Set<Line>();
  readonly #areShared: boolean;
  readonly #onGone: (line: Line) => void;

  /** @param areShared whether other processes have the same conversations under the same ids */
  constructor(maxLines: number, areShared: boolean, onGone: (line: Line) => void) {
    this.#maxLines = maxLines;
    this.#areShared = areShared;
    this.#onGone = onGone;
  }

  /** Finds as many elements as any line of a scope has in common with a list that begins there. */
  knownStart(scope: string, bytes: Buffer, start: number): KnownStart {
    let best: Line | undefined;
    let bestCount = 0;
    const first = skipSpace(bytes, start + 1);
    const isEmpty = bytes[first] === CLOSE_LIST;
    const key = isEmpty ? undefined : keyOf(bytes, { start: first, end: skipValue(bytes, first) });
    for (const line of this.#lines) {
      if (line.firstKey !== key || line.scope !== scope) continue;
      const count = commonElements(line.list, bytes, start);
      if (count < bestCount || count === 0) continue;
      best = line;
      bestCount = count;
    }
    if (best === undefined) return { line: undefined, messages: [], elements: [] };
    const moved = start - best.list.start;
    const elements = best.list.elements.slice(0, bestCount);
    return {
      line: best,
      messages: best.messages.slice(0, bestCount),
      elements:
        moved === 0
          ? elements
          : elements.map(({ start: from, end }) => ({ start: from + moved, end: end + moved })),
    };
  }

  /**
   * Takes a list in: as the next one of the line that it goes on with, or as the first of another.
   *
   * @param start what it was found to begin with
   */
  take(
    about: Pick<Line, 'scope' | 'api' | 'name'>,
    list: ListInBody,
    messages: readonly object[],
    start: KnownStart,
  ): { readonly line: Line; readonly isNew: boolean } {
    const known = this.#lineOf(about, messages, start);
    const firstKey = keyOf(list.bytes, list.elements[0]);
    const line = known ?? { ...about, id: this.#idOf(about, messages), list, firstKey, messages };
    line.list = list;
    line.firstKey = firstKey;
    line.messages = messages;
    this.#lines.delete(line);
    this.#lines.add(line);
    this.#makeRoom();
    return { line, isNew: known === undefined };
  }

  #lineOf(
    { scope, api, name }: Pick<Line, 'scope' | 'api' | 'name'>,
    messages: readonly object[],
    { line: likely, messages: known }: KnownStart,
  ): Line | undefined {
    const isOf = (line: Line): boolean =>
      line.scope === scope && line.api === api && line.name === name;
    // All of it stands there to the byte: no other one has more in common.
    if (likely?.messages.length === known.length && isOf(likely)) return likely;
    let best: Line | undefined;
    let bestLength = 0;
    for (const line of this.#lines) {
      if (!isOf(line)) continue;
      const length = commonLength(line.messages, messages);
      if (length < bestLength || !goesOn(line.messages, messages, length)) continue;
      best = line;
      bestLength = length;
    }
    return best;
  }

  /** The same in every process, for conversations that are kept beyond one. */
  #idOf(
    { scope, api, name }: Pick<Line, 'scope' | 'api' | 'name'>,
    messages: readonly object[],
  ): string {
    const first = JSON.stringify(messages.find(isFromUser) ?? messages[0] ?? null);
    // Where others have it too, nobody's conversation may be found by another one's key, whatever they say.
    const parts = this.#areShared ? [scope, api, name ?? null, first] : [api, name ?? first];
    const digest = createHash('sha256').update(JSON.stringify(parts)).digest('hex');
    const base = `${api}-${digest.slice(0, this.#areShared ? 32 : 16)}`;
    const taken = new Set(Array.from(this.#lines, ({ id }) => id));
    let number = 1;
    while (taken.has(number === 1 ? base : `${base}-${number}`)) number += 1;
    return number === 1 ? base : `${base}-${number}`;
  }

  #makeRoom(): void {
    let bytes = 0;
    for (const { list } of this.#lines) bytes += list.bytes.length;
    for (const oldest of this.#lines) {
      if (this.#lines.size <= this.#maxLines && bytes <= MAX_KEPT_BYTES) return;
      if (this.#lines.size === 1) return;
      this.#lines.delete(oldest);
      bytes -= oldest.list.bytes.length;
      this.#onGone(oldest);
    }
  }
}

/** How many whole elements of a known list stand at the beginning of the one that begins there. */
function commonElements(
  { bytes: known, start, elements }: ListInBody,
  bytes: Buffer,
  at: number,
): number {
  const common = start + commonPrefixLength(known, start, bytes, at);
  let low = 0;
  let high = elements.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((elements[middle]?.end ?? Infinity) <= common) low = middle + 1;
    else high = middle;
  }
  // Where the last one is no object, it might go on in the new list.
  const last = elements[low - 1]?.end;
  return last === common && known[last - 1] !== CLOSE_OBJECT ? low - 1 : low;
}

/** Bytes of a message by which nearly all are told from each other. */
const SEEN_BYTES = 64;

/** A number by which most messages are told from each other, without a look at the body that another one stands in. */
function keyOf(bytes: Uint8Array, { start, end }: ByteRange = NOTHING): number {
  const step = Math.ceil((end - start) / SEEN_BYTES);
  let key = end - start;
  for (let at = end - 1; at >= start; at -= step) {
    key = Math.imul(key ^ (bytes[at] ?? 0), 0x01000193);
  }
  return key;
}

const NOTHING: ByteRange = { start: 0, end: 0 };

/** How many messages say the same at the beginning; nearly all are the same objects. */
function commonLength(known: readonly object[], messages: readonly object[]): number {
  let length = 0;
  while (length < known.length && isSame(known[length], messages[length])) length += 1;
  return length;
}

/**
 * Whether messages are the next ones of a conversation: they begin as it did, with what its user has asked first, and all
 * that the model has answered is in them. What else stood at the end may have been replaced.
 */
function goesOn(known: readonly object[], messages: readonly object[], common: number): boolean {
  if (known.slice(common).some(isFromModel)) return false;
  return common === known.length || messages.slice(0, common).some(isFromUser);
}

function isSame(a: object | undefined, b: object | undefined): boolean {
  return a === b || (b !== undefined && isSameButForCacheMarks(a, b));
}
