// Makes recorded values valid as history entries: replaces lone surrogates, which UTF-8 cannot encode, nesting that
// would overflow the stack, numbers that JSON cannot represent, and content beyond the size limit of an entry.
// Valid values are returned as the same object.

import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion-limits.js';

const { maxDepth, maxCharacters, maxValues } = DEFAULT_INGESTION_LIMITS;

/** The replacement for a value that is nested too deeply. */
const TOO_DEEP = '[nested too deeply]';

/** The replacement for a text or list that exceeds the size limit of its entry. */
const TOO_LARGE = '[too large]';

/** Nesting depth of a block's own fields. Short ones, such as type and call id, are kept even if the entry is full. */
const FIELD_DEPTH = 3;

/** Maximum length of a field that is kept in a full entry, in UTF-16 units. */
const MAX_FIELD = 1_024;

/** Characters and values of an entry's limit that are reserved for these fields and for replacements. */
const RESERVE = 100_000;

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Repairs values. */
export class TextRepair {
  readonly #tally: (what: string) => void;
  #characters = 0;
  #values = 0;

  /** @param tally counts what had to be changed */
  constructor(tally: (what: string) => void) {
    this.#tally = tally;
  }

  /** Returns the value itself if it is valid, else a copy in which only the invalid parts differ. */
  repair<T>(value: T): T {
    this.#characters = 0;
    this.#values = 0;
    return this.#value(value, 0) as T;
  }

  #value(value: unknown, depth: number): unknown {
    this.#values += 1;
    if (typeof value === 'string') return this.#text(this.#fitting(value, depth));
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.#tally('numbers that JSON cannot hold replaced by null');
      return null;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      this.#tally('values nested deeper than 256 levels cut off');
      return TOO_DEEP;
    }
    return Array.isArray(value)
      ? this.#array(value as readonly unknown[], depth + 1)
      : this.#object(value, depth + 1);
  }

  /** Returns the text, or `TOO_LARGE` if the entry has no room for it. */
  #fitting(text: string, depth: number): string {
    if (depth <= FIELD_DEPTH && text.length <= MAX_FIELD) return text;
    if (this.#characters + text.length > maxCharacters - RESERVE) return this.#tooLarge();
    this.#characters += text.length;
    return text;
  }

  #hasRoom(values: number): boolean {
    return this.#values + values <= maxValues - RESERVE;
  }

  #tooLarge(): string {
    this.#tally('values that no entry has room for left out');
    return TOO_LARGE;
  }

  #text(text: string): string {
    return text.replace(LONE_SURROGATE, () => {
      this.#tally('lone surrogates replaced by U+FFFD');
      return '\uFFFD';
    });
  }

  #array(values: readonly unknown[], depth: number): unknown {
    if (!this.#hasRoom(values.length)) return this.#tooLarge();
    const repaired = values.map((value) => this.#value(value, depth));
    return repaired.every((value, at) => value === values[at]) ? values : repaired;
  }

  #object(object: object, depth: number): unknown {
    const members: [string, unknown][] = Object.entries(object);
    if (!this.#hasRoom(members.length)) return this.#tooLarge();
    const fields = members.map(([key, value]) => ({
      key,
      value,
      newKey: this.#text(this.#fitting(key, depth)),
      newValue: this.#value(value, depth),
    }));
    if (fields.every((it) => it.key === it.newKey && it.value === it.newValue)) return object;
    // fromEntries defines `__proto__` as a plain key; assignment would set the prototype.
    return Object.fromEntries(fields.map(({ newKey, newValue }) => [newKey, newValue]));
  }
}
