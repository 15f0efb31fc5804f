// The tokens of a history's entries as bytes, for saved states. A state is saved in every turn, so only entries that changed since
// the last one are packed.

import { firstEditedIndex } from '../../shared/density.js';
import { ByteReader, ByteWriter } from '../../shared/state/packed-bytes.js';
import type { HistoryChange } from '../history-change.js';
import type { HistoryService } from '../history-service.js';
import type { KnownTokens } from './token-ledger.js';

const PACKED = new WeakMap<HistoryService, PackedTokens>();

/** Returns a packed number per entry: 0 if it is not counted, else its tokens plus 1. The bytes are valid until the next call. */
export function packedTokensOf(history: HistoryService): Uint8Array {
  let packed = PACKED.get(history);
  if (packed === undefined) {
    packed = new PackedTokens(history);
    PACKED.set(history, packed);
  }
  return packed.bytes;
}

class PackedTokens {
  readonly #history: HistoryService;
  readonly #bytes = new ByteWriter();
  /** Length of the prefix that `#bytes` holds. All of its entries are counted. */
  #entries = 0;

  constructor(history: HistoryService) {
    this.#history = history;
    history.watch((change) => {
      const kept = Math.min(this.#entries, unchangedEntries(change));
      this.#bytes.dropNumbers(this.#entries - kept);
      this.#entries = kept;
    });
  }

  get bytes(): Uint8Array {
    const entries = this.#history.getRawHistory();
    let tokens: number | undefined;
    const next = (at: number): number | undefined => {
      const entry = entries[at];
      return entry && this.#history.countedTokens(entry);
    };
    while ((tokens = next(this.#entries)) !== undefined) {
      this.#bytes.number(tokens + 1);
      this.#entries += 1;
    }
    if (this.#entries === entries.length) return this.#bytes.view();
    const all = new ByteWriter();
    all.bytes(this.#bytes.view());
    for (let at = this.#entries; at < entries.length; at += 1) all.number((next(at) ?? -1) + 1);
    return all.view();
  }
}

/** Length of the prefix that a change leaves unchanged; `Infinity` if it only appends. */
export function unchangedEntries(change: HistoryChange): number {
  if (change.kind === 'append') return Infinity;
  return change.kind === 'edit' ? firstEditedIndex(change) : 0;
}

/**
 * Unpacks the tokens of each entry.
 *
 * @throws RangeError if the bytes end within a number, or a number is too large.
 */
export function unpackTokens(bytes: Uint8Array): KnownTokens {
  const packed = new ByteReader(bytes);
  const tokens: (number | undefined)[] = [];
  while (!packed.isAtEnd) {
    const number = packed.number();
    tokens.push(number === 0 ? undefined : number - 1);
  }
  return tokens;
}
