// Makes recorded values safe for everything downstream: no lone surrogates, which cannot be encoded, no nesting
// that would exhaust a stack, no number that JSON has no text for, and no more than a history takes as one entry.
// What is sound stays the same object.

import { DEFAULT_INGESTION_LIMITS } from '../../shared/ingestion.js';

const { maxDepth, maxCharacters, maxValues } = DEFAULT_INGESTION_LIMITS;

/** What stands in place of a value that is nested deeper. */
const TOO_DEEP = '[nested too deeply]';

/** What stands in place of a text or a list that an entry has no room for. */
const TOO_LARGE = '[too large]';

/** Levels down to the fields of a block: what it is, and whom it answers, is kept whatever the rest takes. */
const FIELD_DEPTH = 3;

/** Characters of such a field at most. */
const MAX_FIELD = 1_024;

/** Characters and values that are left to the fields of blocks, and to what stands in place of others. */
const RESERVE = 100_000;

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Repairs values and counts what it had to change. */
export class TextRepair {
  /** Lone surrogates that became U+FFFD. */
  surrogates: number = 0;
  /** Values that were cut off for being nested too deeply. */
  tooDeep: number = 0;
  /** Texts, lists and objects that were left out for being too large. */
  tooLarge: number = 0;
  /** Numbers that became null because JSON cannot hold them. */
  notFinite: number = 0;
  #characters = 0;
  #values = 0;

  /** Returns the value, or a copy of it in which only what was unsound differs. */
  repair<T>(value: T): T {
    this.#characters = 0;
    this.#values = 0;
    return this.#value(value, 0) as T;
  }

  #value(value: unknown, depth: number): unknown {
    this.#values += 1;
    if (typeof value === 'string') return this.#text(this.#fitting(value, depth));
    if (typeof value === 'number' && !Number.isFinite(value)) {
      this.notFinite += 1;
      return null;
    }
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= maxDepth) {
      this.tooDeep += 1;
      return TOO_DEEP;
    }
    return Array.isArray(value)
      ? this.#array(value as readonly unknown[], depth + 1)
      : this.#object(value, depth + 1);
  }

  /** The text, where the entry has room for it besides what it holds already. */
  #fitting(text: string, depth: number): string {
    if (depth <= FIELD_DEPTH && text.length <= MAX_FIELD) return text;
    if (this.#characters + text.length > maxCharacters - RESERVE) {
      this.tooLarge += 1;
      return TOO_LARGE;
    }
    this.#characters += text.length;
    return text;
  }

  #hasRoom(values: number): boolean {
    if (this.#values + values <= maxValues - RESERVE) return true;
    this.tooLarge += 1;
    return false;
  }

  #text(text: string): string {
    return text.replace(LONE_SURROGATE, () => {
      this.surrogates += 1;
      return '\uFFFD';
    });
  }

  #array(values: readonly unknown[], depth: number): unknown {
    if (!this.#hasRoom(values.length)) return TOO_LARGE;
    const repaired = values.map((value) => this.#value(value, depth));
    return repaired.every((value, at) => value === values[at]) ? values : repaired;
  }

  #object(object: object, depth: number): unknown {
    const members: [string, unknown][] = Object.entries(object);
    if (!this.#hasRoom(members.length)) return TOO_LARGE;
    const fields = members.map(([key, value]) => ({
      key,
      value,
      newKey: this.#text(this.#fitting(key, depth)),
      newValue: this.#value(value, depth),
    }));
    if (fields.every((it) => it.key === it.newKey && it.value === it.newValue)) return object;
    // fromEntries defines `__proto__` as a plain key, where assignment would set the prototype.
    return Object.fromEntries(fields.map(({ newKey, newValue }) => [newKey, newValue]));
  }
}
