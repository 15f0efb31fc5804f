// The conversations that went through a gateway, each as the body that it came in last: which one a request goes on
// with, and which of its messages are known. Compacts nothing.

import { createHash } from 'node:crypto';
import { isSameButForCacheMarks } from '../../adapters/cache-marks.js';
import { commonPrefixLength } from '../body/common-prefix.js';
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
    for (const line of this.#lines) {
      if (line.scope !== scope) continue;
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
    const line = known ?? { ...about, id: this.#idOf(about, messages), list, messages };
    line.list = list;
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
  const [first] = elements;
  if (first === undefined || !mayBegin(known, start, first.end, bytes, at)) return 0;
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

/** Bytes by which nearly all lists are told from each other that begin with other messages. */
const SEEN_BYTES = 64;

/** Whether a list may begin as another one up to there: most others are told by a few bytes. */
function mayBegin(known: Buffer, start: number, end: number, bytes: Buffer, at: number): boolean {
  const step = Math.ceil((end - start) / SEEN_BYTES);
  for (let place = start + step - 1; place < end; place += step) {
    if (known[place] !== bytes[at + place - start]) return false;
  }
  return true;
}

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
