// A history, the queue that mirrors it, its resident copy on the same thread, and random commands for them. Asserts nothing,
// but reports what each delta led to and the history at that time.

import fc from 'fast-check';
import { HistoryService } from '../../src/main/history-service.js';
import type { HistoryChange, HistoryState } from '../../src/main/history-change.js';
import { DeltaQueue } from '../../src/main/offload/delta-queue.js';
import type { Parcel } from '../../src/main/offload/delta-queue.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { NO_EDITS } from '../../src/shared/density.js';
import type { DensityConfig, PassSettings } from '../../src/shared/density.js';
import { optimize } from '../../src/shared/density/plan/optimize.js';
import type {
  DeltaStep,
  DeltaValue,
  PlannedPass,
  ResidentOptions,
} from '../../src/shared/resident-protocol.js';
import { countEntryTokens, measureEntries } from '../../src/shared/tokens/count-tokens.js';
import { countEachEntry } from './count-each-entry.js';
import type { CountText } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { arbitraryDensityConfig, WORKSPACE_ROOT } from './arbitrary-history.js';
import { arbitraryWorkingConfig, WORKING_TOOLS } from './arbitrary-working-history.js';

/** An agent with every kind of file inclusion. */
export const RESIDENT_AGENT: ResidentOptions['agent'] = {
  workspaceRoot: WORKSPACE_ROOT,
  toolCatalog: WORKING_TOOLS,
  inclusionSyntaxes: ['delimited', 'referenced-files'],
};

/** Generates pass configurations, half of them with a working set. */
export function arbitraryPassConfig(): fc.Arbitrary<DensityConfig> {
  return fc.oneof(arbitraryDensityConfig(), arbitraryWorkingConfig());
}

/** A session's commands. Indexes are taken modulo the length of the history. */
export type SessionCommand =
  | { readonly kind: 'add'; readonly count: number }
  /** Applies the result of a pass. */
  | { readonly kind: 'prune'; readonly config: DensityConfig }
  | {
      readonly kind: 'edit';
      readonly removals: readonly number[];
      readonly replaced: readonly number[];
    }
  /** Reorders entries, with omissions and duplicates; `null` for a new one. */
  | { readonly kind: 'rewrite'; readonly order: readonly (number | null)[] }
  | { readonly kind: 'clear' }
  | { readonly kind: 'compress'; readonly isOver: boolean }
  /** Counts everything. */
  | { readonly kind: 'count' }
  /** Gives the token counts of the next entries in advance. */
  | { readonly kind: 'weigh'; readonly count: number }
  /** Posts the pending changes. */
  | { readonly kind: 'deliver' };

/** Generates session commands; `maxPortion` is the maximum number of entries added or removed at once. */
export function arbitraryCommands(
  maxCommands: number,
  maxPortion: number,
): fc.Arbitrary<SessionCommand[]> {
  const count = fc.integer({ min: 1, max: maxPortion });
  const places = fc.array(fc.nat(4 * maxPortion), { maxLength: maxPortion, size: 'max' });
  const order = fc.array(fc.option(fc.nat(4 * maxPortion), { freq: 4 }), {
    maxLength: 2 * maxPortion,
    size: 'max',
  });
  const command = fc.oneof(
    { weight: 6, arbitrary: fc.record({ kind: fc.constant('add' as const), count }) },
    {
      weight: 3,
      arbitrary: fc.record({
        kind: fc.constant('prune' as const),
        config: arbitraryPassConfig(),
      }),
    },
    {
      weight: 2,
      arbitrary: fc.record({
        kind: fc.constant('edit' as const),
        removals: places,
        replaced: places,
      }),
    },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('rewrite' as const), order }) },
    { weight: 1, arbitrary: fc.constant({ kind: 'clear' as const }) },
    {
      weight: 2,
      arbitrary: fc.record({ kind: fc.constant('compress' as const), isOver: fc.boolean() }),
    },
    { weight: 1, arbitrary: fc.constant({ kind: 'count' as const }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('weigh' as const), count }) },
    { weight: 6, arbitrary: fc.constant({ kind: 'deliver' as const }) },
  );
  return fc.array(command, { maxLength: maxCommands, size: 'max' });
}

export interface ResidentSessionOptions {
  readonly supply: readonly IContent[];
  /** `undefined`: the resident history does not count. */
  readonly countText: CountText | undefined;
  /** Whether messages are cloned, as on their way to a thread. */
  readonly isCloned: boolean;
  /** The length from which the history is resident. */
  readonly minEntries: number;
}

/** A delta, and the history that it led to. */
export interface Delivery {
  readonly parcel: Parcel;
  readonly value: DeltaValue;
  readonly entries: readonly IContent[];
  /** Whether it ends in the middle of a change. */
  readonly isOpen: boolean;
}

/** Plays commands. */
export class ResidentSession {
  readonly history: HistoryService;
  readonly resident: ResidentHistory;
  /** Entries whose counts were known when they were staged, and those whose counts were not. An entry may be in both. */
  readonly stagedKnown: Set<IContent> = new Set();
  readonly stagedUnknown: Set<IContent> = new Set();

  readonly #options: ResidentSessionOptions;
  readonly #countEntry: (entry: IContent) => number;
  readonly #entriesAt: Map<number, readonly IContent[]> = new Map();
  #queue: DeltaQueue | undefined;
  #next = 0;
  #isCountedApart = false;

  constructor(options: ResidentSessionOptions) {
    const { countText, isCloned } = options;
    this.#options = options;
    const count = countText ?? ((): number => 1);
    this.#countEntry = (entry) => countEntryTokens(entry, count);
    const residentOptions = { agent: RESIDENT_AGENT, countsTokens: countText !== undefined };
    this.resident = new ResidentHistory(
      isCloned ? structuredClone(residentOptions) : residentOptions,
      countText,
    );
    this.history = new HistoryService({
      countEntries: (contents) => Promise.resolve([...countEachEntry(contents, count)]),
    });
    this.history.watch((change, state) => {
      this.#noteChange(change, state);
    });
  }

  #noteChange(change: HistoryChange, state: HistoryState): void {
    this.#entriesAt.set(state.base.revision, state.entries.slice());
    if (this.#queue !== undefined) {
      this.#queue.push(change, state);
      return;
    }
    const { length } = state.base;
    if (length < this.#options.minEntries) return;
    const before = change.kind === 'append' ? length - change.contents.length : length;
    this.#queue = new DeltaQueue(state, before);
    if (change.kind === 'append') this.#queue.push(change, state);
  }

  async play(command: Exclude<SessionCommand, { kind: 'deliver' }>): Promise<void> {
    const { history } = this;
    switch (command.kind) {
      case 'add':
        history.addAll(this.#draw(command.count));
        return;
      case 'prune':
        if (history.isCompressing) return;
        // The edit is synchronous; the promise only waits for tokens.
        void history.applyDensityResult(
          optimize(history.getRawHistory(), command.config),
          history.base,
        );
        return;
      case 'edit': {
        if (history.isCompressing || history.length === 0) return;
        const removals = new Set(command.removals.map((place) => place % history.length));
        const replaced = command.replaced
          .map((place) => place % history.length)
          .filter((place) => !removals.has(place));
        const replacements = new Map(
          replaced.flatMap((place) => this.#draw(1).map((entry) => [place, entry] as const)),
        );
        void history.applyDensityResult({ ...NO_EDITS, removals: [...removals], replacements });
        return;
      }
      case 'rewrite': {
        const former = history.getRawHistory();
        const contents = command.order.flatMap((place) => {
          if (place === null) return this.#draw(1);
          return former[place % former.length] ?? [];
        });
        history.replaceAll(contents, history.base);
        return;
      }
      case 'clear':
        history.clear();
        return;
      case 'compress':
        if (command.isOver) history.endCompression();
        else if (!history.isCompressing) history.startCompression();
        return;
      case 'count':
        await history.waitForTokenUpdates();
        return;
      case 'weigh':
        for (const entry of this.#options.supply.slice(this.#next, this.#next + command.count)) {
          history.weigh(entry, this.#countEntry(entry));
        }
    }
  }

  /** Posts everything pending. */
  *deliver(): Generator<Delivery, void, undefined> {
    const { isCloned } = this.#options;
    for (let parcel = this.#queue?.take(); parcel; parcel = this.#queue?.take()) {
      this.#noteStaged(parcel);
      const steps = parcel.delta.steps.map((step) => this.#countedApart(step));
      const delta = { ...parcel.delta, steps };
      const value = this.resident.receive(isCloned ? structuredClone(delta) : delta);
      const { revision, length } = parcel.delta.after;
      const entries = this.#entriesAt.get(revision)?.slice(0, length) ?? [];
      const isOpen = this.#queue?.base === undefined;
      yield {
        parcel: { ...parcel, delta },
        value: isCloned ? structuredClone(value) : value,
        entries,
        isOpen,
      };
    }
  }

  /** Asks for a pass on the state that was delivered. */
  plan(pass: PassSettings): PlannedPass {
    const delta = this.#queue?.nothing();
    const planned = delta && this.resident.receive({ ...delta, pass }).pass;
    if (planned === undefined) throw new Error('Nothing was delivered yet.');
    return planned;
  }

  /** Counts the entries of every other step, as if another thread had counted them. */
  #countedApart(step: DeltaStep): DeltaStep {
    const { countText } = this.#options;
    if (step.kind !== 'stage' || countText === undefined) return step;
    this.#isCountedApart = !this.#isCountedApart;
    if (!this.#isCountedApart) return step;
    const measures = measureEntries(step.contents, countText, step.knownTokens);
    return { ...step, measures };
  }

  /** The next entries of the supply; copies of earlier ones after its end. */
  #draw(count: number): IContent[] {
    const { supply } = this.#options;
    return Array.from({ length: supply.length === 0 ? 0 : count }, () => {
      const entry = supply[this.#next % supply.length] ?? { speaker: 'human', blocks: [] };
      this.#next += 1;
      return this.#next > supply.length ? { ...entry } : entry;
    });
  }

  #noteStaged({ delta, staged }: Parcel): void {
    const known = delta.steps.flatMap((step) =>
      'knownTokens' in step ? [...step.knownTokens] : [],
    );
    staged.forEach((entry, at) => {
      (known[at] === -1 ? this.stagedUnknown : this.stagedKnown).add(entry);
    });
  }
}

/** Puts files before every fifth human entry, in Gemini CLI's format. */
export function withReferencedFiles(history: readonly IContent[]): IContent[] {
  const files = ['a.ts', 'src/b.ts', './a.ts'];
  let humans = 0;
  return history.map((entry) => {
    if (entry.speaker !== 'human') return entry;
    humans += 1;
    if (humans % 5 !== 1) return entry;
    const included = files.slice(humans % 3);
    const texts = [
      '\n--- Content from referenced files ---',
      ...included.flatMap((file) => [`\nContent from @${file}:\n`, 'some content\n']),
      '\n--- End of content ---',
    ];
    const blocks = texts.map((text): ContentBlock => ({ type: 'text', text }));
    return { ...entry, blocks: [...blocks, ...entry.blocks] };
  });
}
