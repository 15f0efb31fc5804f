// Valid JSON that no library writes, so that code must preserve bytes, not only values.

/** Writes JSON with random white space, duplicate keys, and unusual spellings of numbers and strings. */
export function messy(value: unknown, random: () => number): string {
  const space = (): string => ['', '', ' ', '\n', '\t ', '\r\n'][Math.floor(random() * 6)]!;
  const write = (part: unknown): string => {
    if (Array.isArray(part))
      return `[${space()}${part.map(write).join(`${space()},${space()}`)}${space()}]`;
    if (typeof part === 'object' && part !== null) {
      const fields = Object.entries(part).flatMap(([key, of]) => [
        // The last one wins.
        ...(random() < 0.1 ? [`${JSON.stringify(key)}:${space()}null`] : []),
        `${JSON.stringify(key)}${space()}:${space()}${write(of)}`,
      ]);
      return `{${space()}${fields.join(`${space()},`)}${space()}}`;
    }
    if (Number.isSafeInteger(part))
      return random() < 0.5 ? `${String(part)}.0` : `${String(part)}e0`;
    if (typeof part === 'string' && random() < 0.3) {
      return `"${Array.from(part, (unit) => (unit.length === 1 ? `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}` : unit)).join('')}"`;
    }
    return JSON.stringify(part);
  };
  return write(value);
}

/** Random numbers in [0, 1), deterministic for a seed. */
export const seeded =
  (seed: number): (() => number) =>
  () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return seed / 2_147_483_648;
  };
