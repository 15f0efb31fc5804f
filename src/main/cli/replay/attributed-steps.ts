// The steps of a recorded session with each edit taken apart: which rule took what, where in the transcript that stood, and
// what each context came to. Counts nothing.

import { explainDensity } from '../../../density.js';
import type { BlockPlace, DensityConfig, EntryExplanation } from '../../../density.js';
import type { IContent } from '../../../index.js';
import { attributeCompression, attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { identityOf } from '../measure/entry-difference.js';
import type { EditCause, RecordedStep } from './session-recorder.js';

/** A step, an edit taken apart. */
export type AttributedStep =
  | Extract<RecordedStep, { kind: 'entry' | 'window' }>
  | { readonly kind: 'context'; readonly ended: RecordedContext }
  | {
      readonly kind: 'edit';
      readonly cause: EditCause;
      readonly attributions: readonly Attribution[];
      readonly removed: readonly IContent[];
      readonly added: readonly IContent[];
    };

/** One context of the agent: what was said in it, and what was left of that at its end. */
export interface RecordedContext {
  readonly said: readonly IContent[];
  readonly left: readonly IContent[];
  /** By entry that is left, its index in the transcript; `null` for what a compression put in. */
  readonly origins: readonly (number | null)[];
}

/** What became of an entry by an edit. */
export interface LandedExplanation {
  /** Index of the turn. */
  readonly turn: number;
  /** `null` for what a compression did. Places are those of the transcript. */
  readonly explanation: EntryExplanation | null;
}

/** A session taken apart. */
export interface AttributedSession {
  readonly steps: readonly AttributedStep[];
  readonly contexts: readonly [RecordedContext, ...RecordedContext[]];
  /** By index in the transcript, the newest edit of the entry. */
  readonly landed: ReadonlyMap<number, LandedExplanation>;
}

/**
 * Takes steps apart.
 *
 * @param density by what the passes were made; where it is given, edits say why
 */
export function attributeSteps(
  taken: readonly RecordedStep[],
  density: DensityConfig | undefined,
): AttributedSession {
  const attributor = new Attributor(density);
  const steps = taken.map((step) => attributor.take(step));
  const last = attributor.endContext();
  const ended = steps.flatMap((step) => (step.kind === 'context' ? [step.ended] : []));
  const [first, ...others] = [...ended, last] as const;
  return { steps, contexts: [first, ...others], landed: attributor.landed };
}

/** Follows the history. */
class Attributor {
  readonly landed = new Map<number, LandedExplanation>();
  readonly #density: DensityConfig | undefined;
  /** Entries that compressions put in. */
  readonly #putIn = new Set<IContent>();
  #said: IContent[] = [];
  #known: IContent[] = [];
  /** By entry that is known, its index in the transcript. */
  #origins: (number | null)[] = [];
  #played = 0;
  #turn = 0;

  constructor(density: DensityConfig | undefined) {
    this.#density = density;
  }

  take(step: RecordedStep): AttributedStep {
    switch (step.kind) {
      case 'entry':
        this.#said.push(step.entry);
        this.#known.push(step.entry);
        this.#origins.push(this.#played);
        this.#played += 1;
        return step;
      case 'window':
        this.#turn += 1;
        return step;
      case 'context':
        return { kind: 'context', ended: this.endContext() };
      case 'pass':
        return this.#takePass(step);
      case 'compression':
        return this.#takeCompression(step);
    }
  }

  /** Returns what the context came to, and begins another one. */
  endContext(): RecordedContext {
    const ended = { said: this.#said, left: this.#known, origins: this.#origins };
    [this.#said, this.#known, this.#origins] = [[], [], []];
    return ended;
  }

  #takePass({ cause, pass }: Extract<RecordedStep, { kind: 'pass' }>): AttributedStep {
    const { changes, edits } = pass;
    const before = this.#known;
    const explain = this.#density && explainDensity(before, this.#density).explain;
    for (const { index } of changes) {
      const explained = explain?.(index);
      this.#land(index, explained ? placedIn(explained, this.#origins) : null);
    }
    const byIndex = new Map(changes.map(({ index, after }) => [index, after]));
    const stays = (_: unknown, index: number): boolean => byIndex.get(index) !== null;
    this.#known = before.map((entry, index) => byIndex.get(index) ?? entry).filter(stays);
    this.#origins = this.#origins.filter(stays);
    return {
      kind: 'edit',
      cause,
      attributions: attributePass(changes, edits, explain),
      removed: changes.map(({ index, before: entry }) => before[index] ?? entry),
      added: changes.flatMap(({ after }) => after ?? []),
    };
  }

  #takeCompression({
    cause,
    after,
  }: Extract<RecordedStep, { kind: 'compression' }>): AttributedStep {
    const before = this.#known;
    const isByModel = cause.step === 'compressed' && cause.isByModel;
    const attributions = attributeCompression(before, after, {
      isByModel,
      putIn: new Set(this.#putIn),
    });
    for (const each of attributions) {
      if (each.before === null && each.after !== null) this.#putIn.add(each.after);
    }
    const kept = new Set(after);
    for (const [index, entry] of before.entries()) if (!kept.has(entry)) this.#land(index, null);
    this.#origins = originsIn(after, before, this.#origins);
    this.#known = [...after];
    const removed = without(before, after);
    return { kind: 'edit', cause, attributions, removed, added: without(after, before) };
  }

  #land(index: number, explanation: EntryExplanation | null): void {
    const origin = this.#origins[index] ?? null;
    if (origin !== null) this.landed.set(origin, { turn: this.#turn, explanation });
  }
}

/** An explanation of a history as one of the transcript. */
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

/** Where the entries of a compressed history stood: those that are the same, and those that hold the same call or result. */
function originsIn(
  after: readonly IContent[],
  before: readonly IContent[],
  origins: readonly (number | null)[],
): (number | null)[] {
  const known = new Map<IContent | string, number | null>();
  for (const [at, entry] of before.entries()) {
    const origin = origins[at] ?? null;
    known.set(entry, origin);
    for (const block of entry.blocks) {
      const identity = identityOf(block);
      if (identity !== undefined) known.set(identity, origin);
    }
  }
  return after.map(
    (entry) =>
      known.get(entry) ??
      entry.blocks
        .map((block) => known.get(identityOf(block) ?? ''))
        .find((origin) => origin !== undefined) ??
      null,
  );
}

/** What is in one list and not in the other; an object that stands twice counts twice. */
function without(entries: readonly IContent[], others: readonly IContent[]): readonly IContent[] {
  const left = new Map<IContent, number>();
  for (const entry of others) left.set(entry, (left.get(entry) ?? 0) + 1);
  return entries.filter((entry) => {
    const count = left.get(entry) ?? 0;
    left.set(entry, count - 1);
    return count <= 0;
  });
}

/** The entries whose tokens a step is told by. */
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
