// Attributes the edits of a recorded session to rules and to transcript entries, and splits the session into contexts. Does not
// count tokens.

import { explainDensity } from '../../density.js';
import type { BlockPlace, EntryExplanation } from '../../density.js';
import type { IContent } from '../../index.js';
import { attributeCompression, attributePass } from '../measure/attribution.js';
import type { Attribution } from '../measure/attribution.js';
import { identityOf } from '../measure/entry-difference.js';
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
  /** With indices of the transcript; `null` for compressions and if edits are not explained. */
  readonly explanation: EntryExplanation | null;
}

/** A session with attributed edits. */
export interface AttributedSession {
  readonly steps: readonly AttributedStep[];
  readonly contexts: readonly [RecordedContext, ...RecordedContext[]];
  /** The newest edit of each entry, by index in the transcript. */
  readonly landed: ReadonlyMap<number, LandedExplanation>;
}

/** Attributes the edits among the steps. @param explains whether to explain the edits */
export function attributeSteps(
  taken: readonly RecordedStep[],
  explains: boolean,
): AttributedSession {
  const attributor = new Attributor(explains);
  const steps = taken.map((step) => attributor.take(step));
  const last = attributor.endContext();
  const ended = steps.flatMap((step) => (step.kind === 'context' ? [step.ended] : []));
  const [first, ...others] = [...ended, last] as const;
  return { steps, contexts: [first, ...others], landed: attributor.landed };
}

/** Replays the steps on a list of entries, to know the history before each edit. */
class Attributor {
  readonly landed = new Map<number, LandedExplanation>();
  readonly #explains: boolean;
  /** Entries that compressions inserted. */
  readonly #inserted = new Set<IContent>();
  #added: IContent[] = [];
  #known: IContent[] = [];
  /** Index in the transcript for each entry of `#known`. */
  #origins: (number | null)[] = [];
  #played = 0;
  #turn = 0;

  constructor(explains: boolean) {
    this.#explains = explains;
  }

  take(step: RecordedStep): AttributedStep {
    switch (step.kind) {
      case 'entry':
        this.#added.push(step.entry);
        this.#known.push(step.entry);
        this.#origins.push(this.#played);
        this.#played += 1;
        return step;
      case 'preflight':
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

  /** Ends the context and begins another one. */
  endContext(): RecordedContext {
    const ended = { added: this.#added, remaining: this.#known, origins: this.#origins };
    [this.#added, this.#known, this.#origins] = [[], [], []];
    return ended;
  }

  #takePass({ cause, pass, density }: Extract<RecordedStep, { kind: 'pass' }>): AttributedStep {
    const { changes, edits } = pass;
    const before = this.#known;
    const explain = this.#explains ? explainDensity(before, density).explain : undefined;
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
      inserted: new Set(this.#inserted),
    });
    for (const each of attributions) {
      if (each.before === null && each.after !== null) this.#inserted.add(each.after);
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

/** Returns the transcript index of each entry of `after`, matched to `before` by reference, else by a shared call or result. */
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

/** Returns the multiset difference of two lists. */
function without(entries: readonly IContent[], others: readonly IContent[]): readonly IContent[] {
  const left = new Map<IContent, number>();
  for (const entry of others) left.set(entry, (left.get(entry) ?? 0) + 1);
  return entries.filter((entry) => {
    const count = left.get(entry) ?? 0;
    left.set(entry, count - 1);
    return count <= 0;
  });
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
