// Joins contents of one role that an edit made neighbours: Gemini wants turns to alternate, and a function
// call right after a turn of the user. What stood side by side before is left as it was.

import type { Content } from '@google/genai';

/** Joins contents, and knows what it has joined. */
export class JoinedTurns {
  readonly #joined = new WeakMap<Content, readonly Content[]>();

  /** Returns the list with new neighbours of one role made one; `given` is the list before the edits. */
  join(contents: readonly Content[], given: readonly Content[]): Content[] {
    const places = new Map(given.map((content, at) => [content, at]));
    const turns: Content[][] = [];
    for (const content of contents) {
      const turn = turns.at(-1);
      const last = turn?.at(-1);
      const isNew = last !== undefined && places.get(content) !== (places.get(last) ?? NaN) + 1;
      if (turn !== undefined && isNew && roleOf(last) === roleOf(content)) turn.push(content);
      else turns.push([content]);
    }
    return turns.flatMap((turn) => this.#asOne(turn));
  }

  /** Returns a list that may have been joined as it was before. */
  split(contents: readonly Content[]): readonly Content[] {
    return contents.some((content) => this.#joined.has(content))
      ? contents.flatMap((content) => this.#joined.get(content) ?? content)
      : contents;
  }

  #asOne(turn: readonly Content[]): readonly Content[] {
    const [first] = turn;
    if (first === undefined || turn.length === 1) return turn;
    const whole: Content = { ...first, parts: turn.flatMap(({ parts }) => parts ?? []) };
    this.#joined.set(whole, turn);
    return [whole];
  }
}

function roleOf({ role }: Content): string {
  return role ?? 'user';
}
