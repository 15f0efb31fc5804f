// A growing copy of a history to which edits are applied one after the other, and the single edit of the original with the same
// result.

import type { ContentBlock, IContent } from '../../shared/content.js';
import { applyDensityResult, firstEditedIndex, NO_EDITS } from '../../shared/density.js';
import type { DensityResult } from '../../shared/density.js';
import { EMPTY_PLAN, listRuleEdits } from '../../shared/density/plan/plan.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import type { HistoryService } from '../history-service.js';
import { Journal } from '../state/journal.js';
import { sumOfMetadata } from './apply-edit.js';
import { sumTokens, tokensOf } from './token-tally.js';

/** A list that starts empty, takes over the entries of a history in order, and is edited in between. */
export class EditedCopy {
  /** Has the same records of the edits as the journal of a session in which each landed by itself. */
  readonly journal: Journal = new Journal();
  readonly #given: readonly IContent[];
  readonly #history: Pick<HistoryService, 'countedTokens'>;
  readonly #addedAt: (taken: number) => number;
  readonly #entries: IContent[] = [];
  /** Maps an index in the list to the index in the original. */
  #origins: number[] = [];
  #taken = 0;
  #tokens = 0;
  #takenTokens = 0;
  #intactTokens = Infinity;
  #metadata = NO_EDITS.metadata;
  readonly #ruleEdits: RuleEdit[] = [];
  /** For replacement entries, the indices that their blocks had in the original entry. */
  readonly #places = new Map<IContent, readonly number[]>();

  /**
   * @param history knows the tokens of entries
   * @param addedAt returns how many entries had been added when an edit landed, by how many the list has taken over
   */
  constructor(
    given: readonly IContent[],
    history: Pick<HistoryService, 'countedTokens'>,
    addedAt: (taken: number) => number,
  ) {
    this.#given = given;
    this.#history = history;
    this.#addedAt = addedAt;
  }

  get length(): number {
    return this.#entries.length;
  }

  /** Tokens of the list; estimated for entries that are not counted. */
  get tokens(): number {
    return this.#tokens;
  }

  /** Tokens removed by edits. */
  get reclaimedTokens(): number {
    return this.#takenTokens - this.#tokens;
  }

  /** Tokens of the list in front of the first edit since the last call; `Infinity` if there was none. */
  takeIntactTokens(): number {
    const tokens = this.#intactTokens;
    this.#intactTokens = Infinity;
    return tokens;
  }

  getRawHistory(): readonly IContent[] {
    return this.#entries;
  }

  countedTokens(entry: IContent): number | undefined {
    return this.#history.countedTokens(entry);
  }

  /** Appends the next original entries, up to an index of the original, exclusive. */
  extend(end: number): void {
    for (; this.#taken < end; this.#taken += 1) {
      const entry = this.#given[this.#taken] as IContent;
      this.#entries.push(entry);
      this.#origins.push(this.#taken);
      const tokens = tokensOf(entry, this);
      this.#tokens += tokens;
      this.#takenTokens += tokens;
    }
  }

  /** Applies an edit. */
  land(result: DensityResult): void {
    this.#noteRules(result);
    this.journal.noteEdit(this.#addedAt(this.#taken), this.#entries, result);
    const behind = this.#entries.slice(firstEditedIndex(result));
    const behindTokens = sumTokens(behind, this);
    this.#intactTokens = Math.min(this.#intactTokens, this.#tokens - behindTokens);
    const gone = new Set(result.removals);
    for (const index of [...gone, ...result.replacements.keys()]) {
      const before = this.#entries[index];
      const after = result.replacements.get(index);
      if (before !== undefined) this.#tokens -= tokensOf(before, this);
      if (after !== undefined) this.#tokens += tokensOf(after, this);
    }
    applyDensityResult(this.#entries, result);
    if (gone.size > 0) this.#origins = this.#origins.filter((_, index) => !gone.has(index));
    this.#metadata = sumOfMetadata(this.#metadata, result.metadata);
  }

  /** The edit of the original that gives this list. */
  get edit(): DensityResult {
    const removals: number[] = [];
    const replacements = new Map<number, IContent>();
    let next = 0;
    for (let index = 0; index < this.#taken; index += 1) {
      if (this.#origins[next] !== index) {
        removals.push(index);
        continue;
      }
      const entry = this.#entries[next];
      if (entry !== undefined && entry !== this.#given[index]) replacements.set(index, entry);
      next += 1;
    }
    return { removals, replacements, metadata: this.#metadata };
  }

  /** Which rule removed what, ascending; the action of an edit that a later one replaced is `superseded`. */
  get ruleEdits(): readonly RuleEdit[] {
    const edits = this.#ruleEdits.toSorted((a, b) => a.entry - b.entry || a.block - b.block);
    return edits.map((edit, at) => {
      const next = edits[at + 1];
      const isLast = next?.entry !== edit.entry || next.block !== edit.block;
      return isLast || edit.action === 'cut' ? edit : { ...edit, action: 'superseded' };
    });
  }

  #noteRules({ rows = EMPTY_PLAN, replacements }: DensityResult): void {
    for (const edit of listRuleEdits(rows, (index) => this.#entries[index]?.blocks)) {
      const before = this.#entries[edit.entry];
      const entry = this.#origins[edit.entry] ?? edit.entry;
      const block = (before && this.#places.get(before)?.[edit.block]) ?? edit.block;
      this.#ruleEdits.push({ ...edit, entry, block });
    }
    for (const [index, after] of replacements) {
      const before = this.#entries[index];
      if (before === undefined) continue;
      const given = this.#places.get(before);
      const places = placesBefore(before.blocks, after.blocks);
      this.#places.set(after, given === undefined ? places : places.map((at) => given[at] ?? at));
      this.#places.delete(before);
    }
  }
}

/** Maps each block of an edited entry to its index before the edit; -1 if there was none. Edits keep the order of blocks. */
function placesBefore(
  before: readonly ContentBlock[],
  after: readonly ContentBlock[],
): readonly number[] {
  const kept = new Set(after);
  let from = 0;
  return after.map((block) => {
    const isIt = (other: ContentBlock | undefined): boolean =>
      other === block ||
      (other !== undefined && !kept.has(other) && identityOf(other) === identityOf(block));
    let place = from;
    while (place < before.length && !isIt(before[place])) place += 1;
    if (place === before.length) return -1;
    from = place + 1;
    return place;
  });
}

/** What identifies a block across an edit. */
function identityOf(block: ContentBlock): string {
  return block.type === 'tool_response' ? `response ${block.callId}` : block.type;
}
