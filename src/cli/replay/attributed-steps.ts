// Attributes the edits of a recorded session to rules and to transcript entries, and splits the session into contexts. Does not
// count tokens.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { explainDensity } from '../../density.js';
import type { BlockPlace, DensityExplanation, EntryExplanation } from '../../density.js';
import type { IContent } from '../../index.js';
import { attributeCompression, attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { historyDifference } from '../measure/entry-difference.js';
import type { EditCause, RecordedStep } from './session-recorder.js';

/** A step with attributed edits. */
export type AttributedStep =
  | Extract<RecordedStep, { kind: 'entry' | 'preflight' }>
  | { readonly kind: 'context'; readonly ended: RecordedContext }
  | {
      readonly kind: 'edit';
      readonly cause: EditCause;
      readonly attributions: readonly Attribution[];
      readonly removed: readonly IContent[];
      readonly added: readonly IContent[];
    };

/** One context of the agent. It ended when the agent compacted its own history, or with the session. */
export interface RecordedContext {
  /** Entries that were added. */
  readonly added: readonly IContent[];
  /** The history at the end of the context. */
  readonly remaining: readonly IContent[];
  /** Index in the transcript for each entry of `remaining`; `null` for entries that a compression inserted. */
  readonly origins: readonly (number | null)[];
}

/** The newest edit of an entry. */
export interface LandedExplanation {
  /** Index of the turn. */
  readonly turn: number;
  /**
   * Explains the edit with indices of the transcript, or returns `null` for compressions. Takes about as long as a density pass, and
   * walks the steps once more, so that the history before each edit need not be kept.
   */
  readonly explain: () => EntryExplanation | null;
}

/** A session with attributed edits. */
export interface AttributedSession {
  readonly steps: readonly AttributedStep[];
  readonly contexts: readonly [RecordedContext, ...RecordedContext[]];
  /** The newest edit of each entry, by index in the transcript. */
  readonly landed: ReadonlyMap<number, LandedExplanation>;
}

/**
 * Attributes the edits among the steps.
 *
 * @param explains whether attributions say why the rules made the edits. Then it yields to the event loop after each edit.
 * @throws the signal's reason.
 */
export async function attributeSteps(
  taken: readonly RecordedStep[],
  explains: boolean,
  signal: AbortSignal | undefined,
): Promise<AttributedSession> {
  const attributor = new Attributor(taken, explains);
  const steps: AttributedStep[] = [];
  for (const at of taken.keys()) {
    const step = attributor.take(at);
    steps.push(step);
    if (explains && step.kind === 'edit') await nextTurn();
    signal?.throwIfAborted();
  }
  const last = attributor.endContext();
  const ended = steps.flatMap((step) => (step.kind === 'context' ? [step.ended] : []));
  const [first, ...others] = [...ended, last] as const;
  return { steps, contexts: [first, ...others], landed: attributor.landed };
}

/** Replays the steps on a list of entries, to know the history before each edit. */
class Attributor {
  readonly landed = new Map<number, LandedExplanation>();
  readonly #taken: readonly RecordedStep[];
  readonly #explains: boolean;
  /** Index of each entry in the transcript. Entries that a compression inserted have none. */
  readonly #origins = new Map<IContent, number>();
  #added: IContent[] = [];
  #known: IContent[] = [];
  #played = 0;
  #turn = 0;

  constructor(taken: readonly RecordedStep[], explains: boolean) {
    this.#taken = taken;
    this.#explains = explains;
  }

  /** Takes the step at an index. Steps must be taken in order. */
  take(at: number): AttributedStep {
    const step = this.#taken[at] as RecordedStep;
    switch (step.kind) {
      case 'entry':
        this.#added.push(step.entry);
        this.#known.push(step.entry);
        this.#origins.set(step.entry, this.#played);
        this.#played += 1;
        return step;
      case 'preflight':
        this.#turn += 1;
        return step;
      case 'context':
        return { kind: 'context', ended: this.endContext() };
      case 'pass':
        return this.#takePass(step, at);
      case 'compression':
        return this.#takeCompression(step);
    }
  }

  /** Ends the context and begins another one. */
  endContext(): RecordedContext {
    const origins = this.#known.map((entry) => this.#origins.get(entry) ?? null);
    const ended = { added: this.#added, remaining: this.#known, origins };
    [this.#added, this.#known] = [[], []];
    return ended;
  }

  #takePass(
    { cause, pass: { changes, edits }, density }: Extract<RecordedStep, { kind: 'pass' }>,
    at: number,
  ): AttributedStep {
    const known = this.#known;
    // On demand, because indexing the history takes time in proportion to its length, and few passes need it.
    let explanation: DensityExplanation | undefined;
    const explain = (index: number): EntryExplanation =>
      (explanation ??= explainDensity(known, density)).explain(index);
    const attributions = attributePass(changes, edits, this.#explains ? explain : undefined);
    const removed = changes.map(({ index, before }) => known[index] ?? before);
    const gone = new Set<number>();
    for (const { index, after } of changes) {
      this.#land(known[index], after, (origin) => this.#explainPass(at, origin));
      if (after === null) gone.add(index);
      else known[index] = after;
    }
    if (gone.size > 0) this.#known = known.filter((_, index) => !gone.has(index));
    const added = changes.flatMap(({ after }) => after ?? []);
    return { kind: 'edit', cause, attributions, removed, added };
  }

  /** Explains the edit of one entry by the pass at a step. */
  #explainPass(at: number, origin: number): EntryExplanation | null {
    const step = this.#taken[at];
    if (step?.kind !== 'pass') return null;
    const former = new Attributor(this.#taken, false);
    for (let before = 0; before < at; before += 1) former.take(before);
    const { remaining, origins } = former.endContext();
    const { explain } = explainDensity(remaining, step.density);
    return placedIn(explain(origins.indexOf(origin)), origins);
  }

  #takeCompression({
    cause,
    after,
  }: Extract<RecordedStep, { kind: 'compression' }>): AttributedStep {
    const difference = historyDifference(this.#known, after);
    const attributions = attributeCompression(difference, {
      isByModel: cause.step === 'compressed' && cause.isByModel,
      isInserted: (entry) => !this.#origins.has(entry),
    });
    const { removed, added, successors } = difference;
    for (const entry of removed) this.#land(entry, successors.get(entry) ?? null, () => null);
    this.#known = [...after];
    return { kind: 'edit', cause, attributions, removed, added };
  }

  /** Notes the edit of an entry. What replaces the entry has the same place in the transcript. */
  #land(
    entry: IContent | undefined,
    after: IContent | null,
    explain: (origin: number) => EntryExplanation | null,
  ): void {
    const origin = entry && this.#origins.get(entry);
    if (origin === undefined) return;
    this.landed.set(origin, { turn: this.#turn, explain: () => explain(origin) });
    if (after !== null && !this.#origins.has(after)) this.#origins.set(after, origin);
  }
}

/** Maps the indices of an explanation from the history to the transcript. */
export function placedIn(
  explanation: EntryExplanation,
  origins: readonly (number | null)[],
): EntryExplanation {
  const placed = <Place extends BlockPlace>(place: Place | null): Place | null =>
    place && { ...place, entry: origins[place.entry] ?? place.entry };
  return {
    ...explanation,
    index: origins[explanation.index] ?? explanation.index,
    blocks: explanation.blocks.map((block) =>
      Object.assign(
        {},
        block,
        { partner: placed(block.partner) },
        'by' in block && { by: placed<BlockPlace>(block.by) },
      ),
    ),
  };
}

/** Returns the entries of a step whose tokens are needed. */
export function entriesOf(step: AttributedStep): readonly IContent[] {
  if (step.kind === 'entry') return [step.entry];
  if (step.kind !== 'edit') return [];
  return [
    ...step.added,
    ...step.attributions.flatMap(({ before, after }) =>
      [before, after].filter((entry) => entry !== null),
    ),
  ];
}
