// Makes recorded values safe for everything downstream: no lone surrogates, which cannot be encoded,
// and no nesting that would exhaust a stack. What is sound stays the same object.

/** Levels of nesting that are kept; Piscina's structured clone hangs at about 1,600. */
const MAX_DEPTH = 256;

/** What stands in place of a value that is nested deeper. */
const TOO_DEEP = '[nested too deeply]';

const LONE_SURROGATE = /\p{Surrogate}/gu;

/** Repairs values and counts what it had to change. */
export class TextRepair {
  /** Lone surrogates that became U+FFFD. */
  surrogates: number = 0;
  /** Values that were cut off for being nested too deeply. */
  tooDeep: number = 0;

  /** Returns the value, or a copy of it in which only what was unsound differs. */
  repair<T>(value: T): T {
    return this.#value(value, 0) as T;
  }

  #value(value: unknown, depth: number): unknown {
    if (typeof value === 'string') return this.#text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (depth >= MAX_DEPTH) {
      this.tooDeep += 1;
      return TOO_DEEP;
    }
    return Array.isArray(value)
      ? this.#array(value as readonly unknown[], depth + 1)
      : this.#object(value, depth + 1);
  }

  #text(text: string): string {
    return text.replace(LONE_SURROGATE, () => {
      this.surrogates += 1;
      return '\uFFFD';
    });
  }

  #array(values: readonly unknown[], depth: number): readonly unknown[] {
    const repaired = values.map((value) => this.#value(value, depth));
    return repaired.every((value, at) => value === values[at]) ? values : repaired;
  }

  #object(object: object, depth: number): object {
    const fields = Object.entries(object).map(
      ([key, value]: [string, unknown]) =>
        ({ key, value, newKey: this.#text(key), newValue: this.#value(value, depth) }) as const,
    );
    if (fields.every((it) => it.key === it.newKey && it.value === it.newValue)) return object;
    // fromEntries defines `__proto__` as a plain key, where assignment would set the prototype.
    return Object.fromEntries(fields.map(({ newKey, newValue }) => [newKey, newValue]));
  }
}
