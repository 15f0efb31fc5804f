// A session's history on a worker: index and token counts without payloads. Deltas keep it up to date. Plans density passes and
// compressions on the current state. Does not depend on threads.

import { isSameBase, placeholderOf, PRUNED_POINTER, REMOVED_POINTER } from '../shared/density.js';
import type { DensityBase, PassSettings } from '../shared/density.js';
import { stretchesOfEdit, stretchesOfRewrite } from '../shared/density/index/stretches.js';
import { NONE } from '../shared/density/index/history-columns.js';
import { HistoryIndex } from '../shared/density/index/history-index.js';
import { scopeOfSession } from '../shared/density/index/index-scope.js';
import type { IndexScope } from '../shared/density/index/index-scope.js';
import { planIndexed, withTexts } from '../shared/density/plan/optimize.js';
import { pointerOf } from '../shared/density/plan/plan.js';
import type { PlanCursor } from '../shared/density/plan/plan.js';
import type { EntryPlace } from '../shared/density/index/unsent-results.js';
import type { EntryStretches } from '../shared/density/index/stretches.js';
import { WorkerPoolError } from '../shared/errors.js';
import type {
  CompressionRequest,
  DeltaStep,
  DeltaValue,
  HistoryDelta,
  PlannedCompression,
  PlannedPass,
  ResidentOptions,
} from '../shared/resident-protocol.js';
import { measureEntries } from '../shared/tokens/count-tokens.js';
import type { CountText } from '../shared/tokens/count-tokens.js';
import { planResidentCompression } from './resident-compression.js';
import { ResidentFacts } from './resident-facts.js';
import type { MeasuredEntry } from './resident-facts.js';
import { tokensAfterPlan } from './tokens-after-plan.js';

/** An edit or a rewrite whose new entries have not all arrived yet. Those that have are appended to the index meanwhile. */
interface OpenChange {
  /** The final history, as stretches of the old and the appended entries. */
  readonly chosen: EntryStretches;
  readonly placeOf: (at: number) => EntryPlace;
  /** Number of new entries in the change; `arrived` counts those that have arrived. */
  readonly added: number;
  arrived: number;
  /** Length of the history before the change. */
  readonly length: number;
}

/** The history of one session, without payloads. After any error it is unusable, and the session opens a new one. */
export class ResidentHistory {
  readonly #scope: IndexScope;
  readonly #countText: CountText | undefined;
  /** Text of a pointer placeholder → its tokens. */
  readonly #pointerTokens = new Map<string, number>();
  #index: HistoryIndex;
  #facts: ResidentFacts = new ResidentFacts();
  #change: OpenChange | undefined;
  #sequence = 0;
  /** `undefined` until the first delta. */
  #base: DensityBase | undefined;

  /** @param countText counts tokens; without it nothing is counted */
  constructor(options: ResidentOptions, countText: CountText | undefined) {
    this.#scope = scopeOfSession(options.agent);
    this.#countText = countText;
    for (const pointer of [PRUNED_POINTER, REMOVED_POINTER]) {
      this.#pointerTokens.set(pointer, countText?.(pointer) ?? NONE);
    }
    this.#index = new HistoryIndex(this.#scope);
  }

  /**
   * Applies a delta, and plans what it asks for.
   *
   * @throws WorkerPoolError `RESIDENT_OUT_OF_STEP` if the delta does not follow the last one.
   */
  receive(delta: HistoryDelta): DeltaValue {
    this.#assertFollows(delta);
    this.#sequence = delta.sequence;
    const tokens: number[] = [];
    for (const step of delta.steps) this.#take(step, tokens, delta.isOutOfReach);
    const { revision, length } = delta.after;
    const held = this.#change ?? this.#index;
    if (held.length !== length) {
      throw outOfStep(`holds ${held.length} entries where the session has ${length}`);
    }
    const base = { revision, length };
    this.#base = base;
    // Called even if there is no pass, because this releases the texts of results that were sent.
    if (this.#change === undefined) this.#index.unsentResults();
    const { pass, compression } = delta;
    if (this.#change !== undefined && (pass ?? compression) !== undefined) {
      throw outOfStep('cannot plan in the middle of a change');
    }
    return {
      base,
      tokens: Int32Array.from(tokens),
      ...(pass !== undefined && { pass: this.#planPass(base, pass) }),
      ...(compression !== undefined && { compression: this.#planCompression(compression) }),
    };
  }

  #planPass(base: DensityBase, pass: PassSettings): PlannedPass {
    const startedAt = performance.now();
    const planned = withTexts(planIndexed(this.#index, pass), this.#index);
    // Placeholders other than pointers differ in length, so they must be counted.
    const tokensOf = (row: PlanCursor): number => this.#pointerTokens.get(pointerOf(row)) ?? NONE;
    const tokensAfter = tokensAfterPlan(planned.plan, this.#index, this.#facts, {
      placeholder: placeholderOf(pass) === 'pointer' ? tokensOf : () => NONE,
      texts: (planned.texts ?? []).map((text) => this.#countText?.(text) ?? NONE),
    });
    return { base, ...planned, tokensAfter, runMs: performance.now() - startedAt };
  }

  /** Plans a compression; `null` if no tokens are counted here, or if the plan depends on results that were counted elsewhere. */
  #planCompression(request: CompressionRequest): PlannedCompression | null {
    if (this.#countText === undefined) return null;
    return planResidentCompression(this.#index, this.#facts, request, this.#countText);
  }

  #take(step: DeltaStep, tokens: number[], isOutOfReach?: boolean): void {
    switch (step.kind) {
      case 'stage': {
        const { contents, knownTokens } = step;
        const measures = step.measures ?? measureEntries(contents, this.#countText, knownTokens);
        let first = 0;
        for (const [at, content] of contents.entries()) {
          const end = first + content.blocks.length;
          const entry = {
            content,
            tokens: measures.tokens[at] ?? NONE,
            blocks: measures.blocks.subarray(first, end),
            results: measures.results.subarray(first, end),
          };
          tokens.push(this.#append(entry, isOutOfReach));
          first = end;
        }
        return;
      }
      case 'edit': {
        const { removals, replaced } = step;
        const placeOf = this.#index.placesOf(new Set([...removals, ...replaced]));
        const chosen = stretchesOfEdit(this.#index.length, removals, replaced);
        this.#begin(chosen, replaced.length, (at) => placeOf(replaced[at] ?? Infinity));
        return;
      }
      case 'rewrite': {
        const added = step.sources.reduce((sum, source) => sum + (source === NONE ? 1 : 0), 0);
        const chosen = stretchesOfRewrite(this.#index.length, step.sources);
        this.#begin(chosen, added, () => 'moved');
        return;
      }
      case 'clear':
        this.#index = new HistoryIndex(this.#scope);
        this.#facts = new ResidentFacts();
        return;
    }
  }

  /** Appends an entry, which belongs to the open change if there is one. Returns its tokens. */
  #append(entry: MeasuredEntry, isOutOfReach?: boolean): number {
    const change = this.#change;
    const place =
      change?.placeOf(change.arrived) ?? (isOutOfReach === true ? 'out-of-reach' : 'end');
    this.#index.append(entry.content, place);
    this.#facts.append(this.#index, entry);
    if (change !== undefined) {
      change.arrived += 1;
      this.#complete(change);
    }
    return entry.tokens;
  }

  #begin(chosen: EntryStretches, added: number, placeOf: OpenChange['placeOf']): void {
    const { length } = this.#index;
    if (this.#change !== undefined) throw outOfStep('got a change in the middle of another one');
    if (chosen.end > length + added) {
      throw outOfStep(`got a change to more than its ${length} entries`);
    }
    this.#change = { chosen, placeOf, added, arrived: 0, length };
    this.#complete(this.#change);
  }

  /** Completes a change once all of its entries have arrived, by choosing the final history from all entries. */
  #complete({ chosen: entries, added, arrived }: OpenChange): void {
    if (arrived < added) return;
    const chosen = this.#index.chosen(entries);
    this.#facts = this.#facts.chosen(entries.list(), chosen);
    this.#index = chosen.index;
    this.#change = undefined;
  }

  #assertFollows({ sequence, before }: HistoryDelta): void {
    if (sequence !== this.#sequence + 1) {
      throw outOfStep(`got delta ${sequence} after delta ${this.#sequence}`);
    }
    if (this.#base !== undefined && !isSameBase(this.#base, before)) {
      throw outOfStep('got a delta for another state');
    }
  }
}

function outOfStep(problem: string): WorkerPoolError {
  return new WorkerPoolError(
    `The resident history ${problem}; it has to be opened again.`,
    'RESIDENT_OUT_OF_STEP',
  );
}
