// Changes on their way to a resident copy: in order, in any portions, and no message too large. Their effect is tested where they are received.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { HistoryState } from '../../../src/main/history-change.js';
import { MAX_BATCH_CHARACTERS, MAX_BATCH_ENTRIES } from '../../../src/main/offload/posted-entry.js';
import { DeltaQueue } from '../../../src/main/offload/delta-queue.js';
import type { Parcel } from '../../../src/main/offload/delta-queue.js';
import { REACH_RESULTS } from '../../../src/shared/density/index/unsent-results.js';
import { humanText, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { planWithTexts } from '../../../src/shared/density/plan/optimize.js';
import { entryCharacters } from '../../../src/shared/tokens/estimate.js';
import { ResidentHistory } from '../../../src/worker/resident-history.js';
import { runs, sightings } from '../../support/scale.js';

function stateOf(entries: readonly IContent[], revision = 0): HistoryState {
  const base = { revision, length: entries.length };
  return { base, entries, countedTokens: () => undefined };
}

function takeAll(queue: DeltaQueue): Parcel[] {
  const parcels: Parcel[] = [];
  for (let parcel = queue.take(); parcel !== undefined; parcel = queue.take()) parcels.push(parcel);
  return parcels;
}

function kindsOf({ delta }: Parcel): string {
  return delta.steps
    .map((step) => (step.kind === 'stage' ? `stage ${step.contents.length}` : step.kind))
    .join(', ');
}

/** Texts of few lengths, created once: together they have many millions of characters. */
const TEXTS = [0, 10, 2_000, 300_000, 999_999, 1_000_000, 1_300_000].map((length) =>
  'x'.repeat(length),
);
/** A few dozen of these fill a portion. */
const BRIEF = 'x'.repeat(20_000);
const entry = fc
  .oneof(
    { weight: 200, arbitrary: fc.constantFrom(...TEXTS.slice(0, 3)) },
    { weight: 1, arbitrary: fc.constantFrom(...TEXTS) },
  )
  .map((text) => humanText(text));
const portion = fc.array(entry, { maxLength: 600, size: 'max' });

interface Portion {
  readonly kind: 'append' | 'edit' | 'rewrite' | 'clear';
  readonly contents: readonly IContent[];
  readonly isTakenFrom: boolean;
}

const portions = fc.array(
  fc.record({
    kind: fc.constantFrom<Portion['kind']>('append', 'append', 'edit', 'rewrite', 'clear'),
    contents: portion,
    isTakenFrom: fc.boolean(),
  }),
  { maxLength: 5, size: 'max' },
);

/** A history whose changes are pushed to a queue. */
class ToldHistory {
  entries: readonly IContent[];
  readonly queue: DeltaQueue;
  /** All pushed entries, in order. */
  readonly added: IContent[];
  #revision = 0;

  constructor(opening: readonly IContent[]) {
    this.entries = opening;
    this.added = [...opening];
    this.queue = new DeltaQueue(stateOf(opening), opening.length);
  }

  change({ kind, contents }: Portion): void {
    const former = this.entries;
    if (kind !== 'append') this.#revision += 1;
    switch (kind) {
      case 'append':
        if (contents.length === 0) return;
        this.entries = former.concat(contents);
        this.#tell(contents, this.queue.push({ kind, contents }, this.#state()));
        return;
      case 'edit': {
        const replacing = contents.slice(0, former.length);
        const replacements = new Map([...replacing.entries()].reverse());
        this.entries = replacing.concat(former.slice(replacing.length));
        const change = { kind, removals: [], replacements };
        this.#tell(replacing, this.queue.push(change, this.#state()));
        return;
      }
      case 'rewrite':
        this.entries = former.slice(1).concat(contents);
        this.#tell(
          contents,
          this.queue.push({ kind, former, contents: this.entries }, this.#state()),
        );
        return;
      case 'clear':
        this.entries = [];
        this.#tell([], this.queue.push({ kind }, this.#state()));
    }
  }

  #tell(expected: readonly IContent[], comingIn: readonly IContent[]): void {
    expect(comingIn).toEqual(expected);
    this.added.push(...expected);
  }

  #state(): HistoryState {
    return stateOf(this.entries, this.#revision);
  }
}

describe('DeltaQueue', () => {
  it('returns all entries in order and no message too large, whatever the portions', () => {
    let [full, giant, continued] = [0, 0, 0];
    fc.assert(
      fc.property(portion, portions, (opening, made) => {
        const history = new ToldHistory(opening);
        const parcels: Parcel[] = [];
        for (const one of made) {
          history.change(one);
          const parcel = one.isTakenFrom ? history.queue.take() : undefined;
          if (parcel !== undefined) parcels.push(parcel);
          const posted = parcels.reduce((sum, { staged }) => sum + staged.length, 0);
          expect(history.queue.length).toBe(history.added.length - posted);
        }
        parcels.push(...takeAll(history.queue));
        expect(history.queue.isEmpty).toBe(true);
        expect(history.queue.length).toBe(0);

        const staged = parcels.flatMap((parcel) => parcel.staged);
        expect(staged.length).toBe(history.added.length);
        expect(staged.every((one, at) => one === history.added[at])).toBe(true);
        let before = { revision: 0, length: 0 };
        parcels.forEach((parcel, at) => {
          const { delta } = parcel;
          const characters = parcel.staged.reduce((sum, one) => sum + entryCharacters(one), 0);
          expect(parcel.characters).toBe(characters);
          expect(parcel.staged.length).toBeLessThanOrEqual(MAX_BATCH_ENTRIES);
          if (parcel.staged.length !== 1) {
            expect(characters).toBeLessThanOrEqual(MAX_BATCH_CHARACTERS);
          }
          expect(delta.sequence).toBe(at + 1);
          expect(delta.before).toEqual(before);
          expect(delta.steps.length).toBeGreaterThan(0);
          before = delta.after;
          full += parcel.staged.length === MAX_BATCH_ENTRIES ? 1 : 0;
          giant += characters > MAX_BATCH_CHARACTERS ? 1 : 0;
          continued += delta.steps[0]?.kind === 'stage' && !parcel.isAppend ? 1 : 0;
        });
        if (parcels.length > 0) expect(before.length).toBe(history.entries.length);
      }),
      { numRuns: runs(300) },
    );
    for (const times of [full, giant, continued]) expect(times).toBeGreaterThan(sightings(10));
  });

  it('knows for each portion whether REACH_RESULTS results and then a model message stand behind it', () => {
    const kind = fc.constantFrom<IContent['speaker']>('human', 'ai', 'tool', 'tool', 'tool');
    const speakers = fc.array(kind, { minLength: 10, maxLength: 400, size: 'max' });
    const portionsOf = fc.array(speakers, { minLength: 3, maxLength: 6, size: 'max' });
    const entryOf = (speaker: IContent['speaker']): IContent =>
      speaker === 'tool'
        ? toolContent([toolResponse('id', 'read', BRIEF)])
        : { speaker, blocks: [] };
    let far = 0;
    let near = 0;
    fc.assert(
      fc.property(portionsOf, fc.nat(5), fc.boolean(), (given, takenAt, isEdited) => {
        const waiting: IContent[] = [];
        const queue = new DeltaQueue(stateOf([]), 0);
        const take = (): void => {
          const parcel = queue.take();
          if (parcel === undefined) return;
          waiting.splice(0, parcel.staged.length);
          const answer = waiting.findLastIndex(({ speaker }) => speaker === 'ai');
          const before = waiting.slice(0, Math.max(0, answer));
          const tools = before.filter(({ speaker }) => speaker === 'tool').length;
          expect(parcel.isOutOfReach).toBe(answer >= 0 && tools >= REACH_RESULTS);
          if (parcel.isOutOfReach) far += 1;
          else near += 1;
        };
        for (const [at, portion] of given.entries()) {
          const contents = portion.map(entryOf);
          queue.push({ kind: 'append', contents }, stateOf([]));
          waiting.push(...contents);
          if (at >= takenAt) take();
        }
        while (!queue.isEmpty) take();
        expect(queue.hasEdits).toBe(false);
        if (isEdited) queue.push({ kind: 'clear' }, stateOf([], 1));
        expect(queue.hasEdits).toBe(isEdited);
      }),
      { numRuns: runs(300) },
    );
    for (const times of [far, near]) expect(times).toBeGreaterThan(sightings(10));
  });

  it('is empty at first when the history is empty', () => {
    const queue = new DeltaQueue(stateOf([]), 0);
    expect(queue.isEmpty).toBe(true);
    expect(queue.take()).toBeUndefined();
  });

  it('merges consecutive appends into one step, and several changes into one message', () => {
    const [first, second, third] = [humanText('1'), humanText('2'), humanText('3')];
    const queue = new DeltaQueue(stateOf([first]), 1);
    queue.push({ kind: 'append', contents: [second] }, stateOf([first, second]));
    queue.push(
      { kind: 'edit', removals: [0], replacements: new Map([[1, third]]) },
      stateOf([third], 1),
    );
    queue.push({ kind: 'clear' }, stateOf([], 2));
    const [parcel, ...others] = takeAll(queue);
    expect(others).toEqual([]);
    expect(parcel && kindsOf(parcel)).toBe('stage 2, edit, stage 1, clear');
    expect(parcel?.delta.after).toEqual({ revision: 2, length: 0 });
  });

  it('lists the indices of an edit ascending, and its entries in their order', () => {
    const entries = Array.from({ length: 12 }, (_, at) => humanText(String(at)));
    const queue = new DeltaQueue(stateOf(entries), 12);
    takeAll(queue);
    const [a, b] = [humanText('a'), humanText('b')];
    const replacements = new Map([
      [11, b],
      [3, a],
    ]);
    queue.push({ kind: 'edit', removals: [10, 2, 9], replacements }, stateOf([], 1));
    const [parcel] = takeAll(queue);
    expect(parcel?.staged).toEqual([a, b]);
    expect(parcel?.delta.steps[0]).toEqual({
      kind: 'edit',
      removals: Int32Array.of(2, 9, 10),
      replaced: Int32Array.of(3, 11),
    });
  });

  it('posts the texts of counted results too, so that a pass may shrink newer ones by them', () => {
    const lines = Array.from({ length: 40 }, (_, at) => `${at} lines that both results show`);
    const history = ['1', '2'].flatMap((id): IContent[] => [
      { speaker: 'ai', blocks: [toolCall(id, 'unknown', {})] },
      { speaker: 'tool', blocks: [toolResponse(id, 'unknown', lines.join('\n'))] },
    ]);
    const agent = { workspaceRoot: '/w' };
    const pass = { ...agent, ...DEFAULT_DENSITY_CONFIG, shrink: 'default' } as const;
    const state = { ...stateOf(history), countedTokens: () => 7 };
    const resident = new ResidentHistory({ agent, countsTokens: false }, undefined);
    const parcel = new DeltaQueue(state, history.length).take();
    const value = resident.receive({ ...structuredClone(parcel!.delta), pass });
    const { texts } = value.pass!;
    expect(texts).toEqual(planWithTexts(history, pass).texts);
    expect(texts?.[0]).toContain('unchanged from the result of 1');
  });
});
