// The adapter for Google GenAI: contents in, contents out. Joins contents of one role that edits have made adjacent, because Gemini
// requires a function call to come right after a turn of the user, and chats of the SDK keep turns that alternate.

import type { Content } from '@google/genai';
import type { Compactor } from '../../main/compactor.js';
import { asArray, asRecord } from '../../shared/json.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import { madeFrom, originalsOf } from '../format/originals.js';
import { isSameValue } from '../format/same-value.js';
import { contentFormat } from './content-format.js';

/**
 * Creates a function that compacts contents. Call it with the whole array before each `generateContent` or
 * `generateContentStream`:
 *
 * ```ts
 * const compact = contentsCompactor(compactor);
 * await ai.models.generateContent({ model, contents: await compact(contents) });
 * ```
 *
 * Keep appending to your own array. In chats and automatic function calling (`CallableTool`, `mcpToTool`) the SDK assembles the
 * contents itself: use `compactingFetch` for them.
 *
 * Contents of one role that a removal makes adjacent are joined. The first of parallel calls is kept as long as another call of its
 * step is, because only the first one has the thought signature that Gemini requires.
 *
 * @throws RangeError naming each invalid option.
 */
export function contentsCompactor(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<Content> {
  const turns = TURNS.get(compactor) ?? new JoinedTurns();
  const compact = createMessageCompactor(
    compactor,
    contentFormat,
    options,
    (compactEach) => async (given, call) =>
      turns.join(await compactEach(turns.split(given), call), given),
  );
  TURNS.set(compactor, turns);
  return compact;
}

/** Number of joined contents that are recognized by their value. */
const MAX_JOINED = 256;

interface Joined {
  readonly whole: Content;
  readonly turn: readonly Content[];
}

/** Joins contents, and remembers the originals of each joined one. */
export class JoinedTurns {
  readonly #joined = new WeakMap<Content, readonly Content[]>();
  /** The newest joined contents, the newest last. They are compared by value, because a chat returns copies of its history. */
  #newest: readonly Joined[] = [];

  /**
   * Joins contents of one role that are adjacent now but were not in `given`, the caller's list before the edits. Contents that were
   * joined in that list are joined again.
   */
  join(contents: readonly Content[], given: readonly Content[]): Content[] {
    const places = new Map(
      given.flatMap((content, at) =>
        (this.#joined.get(content) ?? [content]).map((each) => [each, at] as const),
      ),
    );
    // Contents keep their order, so each search goes on where the last one has found something.
    let searched = 0;
    // An edited content may have been made from an earlier copy of the caller's, and a caller may pass one object twice.
    const wereNeighbours = (last: Content, content: Content): boolean => {
      const [a, b] = [originalOf(last), originalOf(content)];
      const [at, next] = [places.get(a), places.get(b)];
      if (next !== undefined) return at === next - 1 || isSameValue(given[next - 1], a);
      if (at !== undefined) return isSameValue(given[at + 1], b);
      const found = given.findIndex(
        (each, place) =>
          place >= searched && isSameValue(each, a) && isSameValue(given[place + 1], b),
      );
      if (found !== -1) searched = found;
      return found !== -1;
    };
    const turns: Content[][] = [];
    for (const content of contents) {
      const turn = turns.at(-1);
      const last = turn?.at(-1);
      const isJoined =
        last !== undefined && roleOf(last) === roleOf(content) && !wereNeighbours(last, content);
      if (isJoined) turn?.push(content);
      else turns.push([content]);
    }
    return turns.flatMap((turn) => this.#asOne(turn));
  }

  /** Replaces joined contents, and copies of them, by their originals. */
  split(contents: readonly Content[]): readonly Content[] {
    if (this.#newest.length === 0) return contents;
    for (const content of contents) if (!this.#joined.has(content)) this.#findLike(content);
    return contents.some((content) => this.#joined.has(content))
      ? contents.flatMap((content) => this.#joined.get(content) ?? content)
      : contents;
  }

  #findLike(content: Content): void {
    const count = asArray(asRecord(content)?.['parts']).length;
    if (count < 2) return;
    const like = this.#newest.findLast(
      ({ whole }) => whole.parts?.length === count && isSameValue(whole, content),
    );
    if (like !== undefined) this.#joined.set(content, like.turn);
  }

  #asOne(turn: readonly Content[]): readonly Content[] {
    const [first] = turn;
    if (first === undefined || turn.length === 1) return turn;
    const parts = turn.flatMap((content) => content.parts ?? []);
    const whole: Content = madeFrom({ ...first, parts }, ...turn);
    this.#joined.set(whole, turn);
    const others = this.#newest.filter((each) => !isSameValue(each.whole, whole));
    this.#newest = [...others, { whole, turn }].slice(-MAX_JOINED);
    return [whole];
  }
}

function originalOf(content: Content): Content {
  return originalsOf(content)[0] ?? content;
}

function roleOf({ role }: Content): string {
  return role ?? 'user';
}

/** Compactor → joined turns. Functions share them, because one may be passed contents that another one has joined. */
const TURNS = new WeakMap<Compactor, JoinedTurns>();
