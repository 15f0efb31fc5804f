// Which of some names a misspelt one was meant to be. Pure; knows no options.

/** Names that are longer than any option are not compared. */
const MAX_LENGTH = 64;

/** Returns the name that takes the fewest letters to change, or `undefined` when none is near. */
export function nearestName(misspelt: string, names: readonly string[]): string | undefined {
  if (misspelt.length > MAX_LENGTH) return undefined;
  const [nearest] = names
    .map((name) => ({ name, changes: changesBetween(misspelt.toLowerCase(), name.toLowerCase()) }))
    .filter(({ name, changes }) => changes <= Math.max(2, name.length / 3))
    .sort((a, b) => a.changes - b.changes);
  return nearest?.name;
}

/** Letters that are put in, left out or replaced (Levenshtein). */
function changesBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, at) => at);
  for (let at = 0; at < from.length; at += 1) {
    const next = [at + 1];
    for (let column = 0; column < to.length; column += 1) {
      const replaced = (row[column] ?? 0) + (to[column] === from[at] ? 0 : 1);
      next.push(Math.min(replaced, (row[column + 1] ?? 0) + 1, (next[column] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
