// What each rule has saved, in dollars: what its edits took away is not read by any later request, and has cost what stood
// behind it. Keeps sums, never an entry.

import type { IContent } from '../../shared/content.js';
import type { RuleEdit } from '../../shared/density/plan/plan.js';
import { DENSITY_RULES } from '../../shared/density/rules/density-rules.js';
import type { RuleName } from '../../shared/density/rules/density-rules.js';
import type { DollarMemory } from '../state/session-memory.js';
import type { EntryChange } from '../entry-change.js';
import type { TokenPrice } from '../models/model-prices.js';

/** The sums of one session. */
export class RuleSavings {
  /** Tokens that rules have taken away since the history began. */
  readonly #taken = new Map<RuleName, number>();
  /** Of these, what was taken since the last request. */
  readonly #landing = new Map<RuleName, number>();
  /** Of that, what no request had held: it would have been written, and not read. */
  readonly #unsent = new Map<RuleName, number>();
  readonly #dollars = new Map<RuleName, number>();

  /** @param former what the session before has kept */
  constructor(former: DollarMemory['rules'] = []) {
    for (const [name, tokens, dollars] of former) {
      const rule = DENSITY_RULES.find((each) => each.name === name)?.name;
      if (rule === undefined) continue;
      this.#taken.set(rule, tokens);
      this.#dollars.set(rule, dollars);
    }
  }

  /** What the next session of the history has to know. */
  get memory(): DollarMemory['rules'] {
    const rules = new Set([...this.#taken.keys(), ...this.#dollars.keys()]);
    return Array.from(rules, (rule) => [
      rule,
      this.#taken.get(rule) ?? 0,
      this.#dollars.get(rule) ?? 0,
    ]);
  }

  /** Notes an edit; an entry that several rules edit is shared among them. */
  noteEdits(
    edits: readonly RuleEdit[],
    changes: readonly EntryChange[],
    tokensOf: (entry: IContent) => number,
  ): void {
    const rulesOf = new Map<number, RuleEdit[]>();
    for (const edit of edits) {
      if (edit.action === 'ceded') continue;
      const rules = rulesOf.get(edit.entry);
      if (rules === undefined) rulesOf.set(edit.entry, [edit]);
      else rules.push(edit);
    }
    for (const { index, before, after } of changes) {
      const rules = rulesOf.get(index) ?? [];
      const tokens = tokensOf(before) - (after === null ? 0 : tokensOf(after));
      for (const { rule, action } of rules) {
        add(this.#taken, rule, tokens / rules.length);
        // Results are shrunk before they are sent.
        const since = action === 'shrink' ? this.#unsent : this.#landing;
        add(since, rule, tokens / rules.length);
      }
    }
  }

  /** The history was cleared, or nothing is missing in it. */
  startOver(): void {
    this.#taken.clear();
    this.#landing.clear();
    this.#unsent.clear();
  }

  /**
   * Adds a request.
   *
   * @param prices of a token that is read from the cache, and that is written; dollars for a million
   * @param isWarm whether the cache had what was sent before
   * @param unreadTokens those that stood in the request before and were not read from the cache, with what was shrunk before it was sent
   */
  addRequest({ cacheRead, cacheWrite }: TokenPrice, isWarm: boolean, unreadTokens: number): void {
    const price = isWarm ? cacheRead : cacheWrite;
    const more = isWarm ? cacheWrite - cacheRead : 0;
    const unsent = sumOf(this.#unsent);
    const rewrite = more * Math.max(0, unreadTokens + unsent);
    for (const [rule, tokens] of this.#taken) add(this.#dollars, rule, (tokens * price) / 1e6);
    for (const [rule, tokens] of this.#unsent) add(this.#dollars, rule, (tokens * more) / 1e6);
    this.#unsent.clear();
    const all = sumOf(this.#landing);
    for (const [rule, tokens] of this.#landing) {
      if (all > 0) add(this.#dollars, rule, -((tokens / all) * rewrite) / 1e6);
    }
    this.#landing.clear();
  }

  /** What each rule has saved, and under `other` what is left of all that was. */
  shares(saved: number): Readonly<Partial<Record<RuleName | 'other', number>>> {
    return { ...Object.fromEntries(this.#dollars), other: saved - sumOf(this.#dollars) };
  }
}

function sumOf(sums: ReadonlyMap<RuleName, number>): number {
  return [...sums.values()].reduce((sum, amount) => sum + amount, 0);
}

function add(sums: Map<RuleName, number>, rule: RuleName, amount: number): void {
  sums.set(rule, (sums.get(rule) ?? 0) + amount);
}
