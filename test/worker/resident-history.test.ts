// A resident history that is fed through the queue of its session, compared with the history itself: after every delta its plans, tokens and predictions are
// those of the whole history.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import tokens from 'gpt-tokenizer/bpeRanks/o200k_base';
import { describe, expect, it } from 'vitest';
import { collectGarbage } from '../../bench/support/used-megabytes.js';
import { hasSubstance } from '../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { DEFAULT_DENSITY_CONFIG } from '../../src/shared/density.js';
import type { DensityBase, DensityConfig, PassSettings } from '../../src/shared/density.js';
import { materializeDensityPlan } from '../../src/shared/density/plan/materialize.js';
import { planWithTexts } from '../../src/shared/density/plan/optimize.js';
import { PlanCursor } from '../../src/shared/density/plan/plan.js';
import type { DensityPlan } from '../../src/shared/density/plan/plan.js';
import { REACH_RESULTS } from '../../src/shared/density/index/unsent-results.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';
import type { DeltaStep } from '../../src/shared/resident-protocol.js';
import { ENTRY_OVERHEAD_TOKENS } from '../../src/shared/tokens/content-text.js';
import { BytePairCounter } from '../../src/shared/tokens/byte-pair-counter.js';
import { countEntryTokens } from '../../src/shared/tokens/count-tokens.js';
import { countEachEntry } from '../support/count-each-entry.js';
import type { CountText } from '../../src/shared/tokens/count-tokens.js';
import { ResidentHistory } from '../../src/worker/resident-history.js';
import { arbitraryBrokenHistory } from '../support/arbitrary-broken-history.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { arbitraryWorkingHistory } from '../support/arbitrary-working-history.js';
import { countThirds } from '../support/piece-counters.js';
import {
  arbitraryCommands,
  arbitraryPassConfig,
  RESIDENT_AGENT,
  ResidentSession,
  withReferencedFiles,
} from '../support/resident-session.js';
import type { Delivery, SessionCommand } from '../support/resident-session.js';
import { length, runs, sightings } from '../support/scale.js';
import { arrangeTokens } from '../../bench/support/arrange-tokens.js';

const { count: countO200k } = new BytePairCounter(arrangeTokens(tokens));

/** What the sessions have been through, in numbers of deltas or passes. */
const seen = {
  sessions: 0,
  deltas: 0,
  manySteps: 0,
  countedApart: 0,
  continued: 0,
  edits: 0,
  rewrites: 0,
  clears: 0,
  known: 0,
  drops: 0,
  removals: 0,
  replacements: 0,
  pointers: 0,
  excerpts: 0,
  spent: 0,
  cuts: 0,
  partials: 0,
  repeatedIds: 0,
  foretold: 0,
  leftToCount: 0,
  foretoldReasoning: 0,
  sharedReasoning: 0,
};
type Seen = keyof typeof seen;

function note(kind: Seen, isSo: boolean): void {
  if (isSo) seen[kind] += 1;
}

/** Like `toStrictEqual`, but cheap if the values are equal. */
function expectEqual(actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
}

const { drop, companion, pointer, excerpt, cut, shorten } = ACTION;

/** Whether a row of a plan has one of these actions, for any block or for this one. */
function hasRow(plan: DensityPlan, actions: readonly number[], entry = -1, block = -1): boolean {
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) {
    const isThere = entry === -1 || (row.entry === entry && row.block === block);
    if (isThere && actions.includes(row.action)) return true;
  }
  return false;
}

/** Whether an entry loses text by a plan, other than what is left to be counted. */
function losesText(plan: DensityPlan, { blocks }: IContent, index: number): boolean {
  return blocks.some(
    (block, at) =>
      hasRow(plan, [cut], index, at) ||
      (block.type === 'text' && hasRow(plan, [drop, companion], index, at)),
  );
}

/** Whether a call is removed from an entry in which it shares reasoning with other calls, and with nothing else. */
function sharesReasoning(plan: DensityPlan, { blocks }: IContent, index: number): boolean {
  const placed = blocks
    .map((block, at) => ({ block, isDropped: hasRow(plan, [drop, companion], index, at) }))
    .filter(({ block }) => block.type === 'thinking' || hasSubstance(block));
  return placed.some(({ isDropped }, at) => {
    const isReasoning = (place: { readonly block: ContentBlock }): boolean =>
      place.block.type === 'thinking';
    const first = placed.slice(0, at).findLastIndex(isReasoning) + 1;
    const end = placed.findIndex((place, behind) => behind > at && isReasoning(place));
    const group = placed.slice(first, end === -1 ? placed.length : end);
    const isOfCalls = group.every(({ block }) => block.type === 'tool_call');
    return isDropped && first > 0 && isOfCalls && group.length > 1 && !isAll(group, placed);
  });
}

function isAll(
  group: readonly unknown[],
  placed: readonly { readonly block: ContentBlock }[],
): boolean {
  return group.length === placed.filter(({ block }) => hasSubstance(block)).length;
}

/** Whether a block of the entry is removed with one of its calls. */
function bindsToOwnCall({ speaker, blocks }: IContent): boolean {
  return (
    speaker === 'ai' &&
    blocks.some(
      (bound) =>
        bound.type === 'opaque' &&
        blocks.some((call) => call.type === 'tool_call' && call.id === bound.callId),
    )
  );
}

function losesReasoning(before: IContent, after: IContent): boolean {
  const thoughts = ({ blocks }: IContent): number =>
    blocks.filter(({ type }) => type === 'thinking').length;
  return thoughts(after) < thoughts(before);
}

function editedEntries(plan: DensityPlan): number[] {
  const edited = new Set<number>();
  for (const row = new PlanCursor(plan); !row.isAtEnd; row.next()) edited.add(row.entry);
  return [...edited].sort((a, b) => a - b);
}

function expectForetold(
  session: ResidentSession,
  plan: DensityPlan,
  entries: readonly IContent[],
  tokensAfter: Int32Array,
  config: DensityConfig,
  count: CountText | undefined,
): void {
  const edited = editedEntries(plan);
  const { removals, replacements } = materializeDensityPlan(plan, entries, config);
  note('removals', removals.length > 0);
  note('replacements', replacements.size > 0);
  expectEqual(
    [...tokensAfter].filter((_, at) => at % 3 === 0),
    edited,
  );
  edited.forEach((index, at) => {
    const foretold = tokensAfter[3 * at + 1];
    const isLeftToCount = tokensAfter[3 * at + 2] === 1;
    const entry = entries[index];
    if (entry === undefined || count === undefined) {
      expect(foretold).toBe(-1);
      return;
    }
    const replacement = replacements.get(index);
    // A completely removed entry is not weighed.
    if (replacement === undefined) return;
    const isShared = sharesReasoning(plan, entry, index);
    note('sharedReasoning', isShared);
    const isOpen = isShared || bindsToOwnCall(entry) || losesText(plan, entry, index);
    if (isLeftToCount && entry.blocks.some(({ type }) => type === 'thinking')) return;
    const changed = replacement.blocks.filter((block) => !entry.blocks.includes(block));
    const left = isLeftToCount ? { ...replacement, blocks: changed } : NOTHING;
    const counted = isOpen
      ? -1
      : countEntryTokens(replacement, count) -
        countEntryTokens(left, count) +
        ENTRY_OVERHEAD_TOKENS;
    const isMeasured = session.stagedUnknown.has(entry);
    const isCounted = session.stagedKnown.has(entry);
    if (isMeasured && isCounted) expect([-1, counted]).toContain(foretold);
    else expect(foretold).toBe(isMeasured ? counted : -1);
    if (foretold === -1) return;
    note('foretold', true);
    note('leftToCount', isLeftToCount);
    note('foretoldReasoning', losesReasoning(entry, replacement));
  });
}

function expectDelivery(
  session: ResidentSession,
  { parcel, value, entries, isOpen }: Delivery,
  configs: readonly DensityConfig[],
  count: CountText | undefined,
): void {
  const { delta, staged } = parcel;
  note('deltas', true);
  note('manySteps', delta.steps.length > 2);
  note('continued', isOpen);
  note(
    'countedApart',
    delta.steps.some((step) => step.kind === 'stage' && step.measures !== undefined),
  );
  note(
    'known',
    delta.steps.some((step) => 'knownTokens' in step && step.knownTokens.some((t) => t !== -1)),
  );
  note(
    'edits',
    delta.steps.some(({ kind }) => kind === 'edit'),
  );
  note(
    'rewrites',
    delta.steps.some(({ kind }) => kind === 'rewrite'),
  );
  note(
    'clears',
    delta.steps.some(({ kind }) => kind === 'clear'),
  );
  expectEqual(value.base, delta.after);
  expect(entries.length).toBe(delta.after.length);
  if (count !== undefined) expectEqual(value.tokens, countEachEntry(staged, count));
  for (const settings of configs) {
    if (isOpen) {
      expect(() => session.plan(settings)).toThrow('in the middle of a change');
      continue;
    }
    const config = { ...settings, ...RESIDENT_AGENT };
    const pass = session.plan(settings);
    const plan = planWithTexts(entries, config).plan;
    expectEqual(pass.base, delta.after);
    expectEqual(pass.plan, plan);
    note('drops', hasRow(plan, [drop]));
    note('pointers', hasRow(plan, [pointer]));
    note('excerpts', hasRow(plan, [excerpt]));
    note('spent', hasRow(plan, [shorten]));
    note('cuts', hasRow(plan, [cut]));
    expectForetold(session, plan, entries, pass.tokensAfter, config, count);
  }
}

/** Whether a list has responses of running tools, and whether calls share an id. */
function noteContents(entries: readonly IContent[]): void {
  const blocks = entries.flatMap((entry) => entry.blocks);
  note(
    'partials',
    blocks.some((block) => block.type === 'tool_response' && block.isComplete === false),
  );
  const ids = blocks.flatMap((block) => (block.type === 'tool_call' ? [block.id] : []));
  note('repeatedIds', new Set(ids).size < ids.length);
}

const NOTHING: IContent = { speaker: 'tool', blocks: [] };

interface Play {
  readonly commands: readonly SessionCommand[];
  readonly minEntries: number;
  readonly isCloned: boolean;
}

async function play(
  supply: readonly IContent[],
  { commands, minEntries, isCloned }: Play,
  configs: readonly DensityConfig[],
  countText: CountText | undefined,
): Promise<void> {
  const session = new ResidentSession({ supply, countText, isCloned, minEntries });
  const deliver = (): void => {
    for (const delivery of session.deliver()) {
      expectDelivery(session, delivery, configs, countText);
    }
  };
  for (const command of commands) {
    if (command.kind === 'deliver') deliver();
    else await session.play(command);
  }
  session.history.endCompression();
  deliver();
  note('sessions', true);
  noteContents(session.history.getRawHistory());
  // Nothing may run after the session.
  await session.history.waitForTokenUpdates();
}

interface Sizes {
  readonly cases: number;
  /** Of those, how many a quick run plays at least. @default 20 */
  readonly least?: number;
  readonly sessionsPerRun: number;
  readonly maxCommands: number;
  readonly maxPortion: number;
}

function holds(
  histories: fc.Arbitrary<IContent[]>,
  countText: CountText | undefined,
  { cases, least, sessionsPerRun, maxCommands, maxPortion }: Sizes,
): Promise<void> {
  const played = fc.record({
    commands: arbitraryCommands(maxCommands, maxPortion),
    minEntries: fc.constantFrom(1, 1, 12),
    isCloned: fc.boolean(),
  });
  const plays = fc.array(played, { minLength: 1, maxLength: sessionsPerRun, size: 'max' });
  const configs = fc.array(arbitraryPassConfig(), { minLength: 1, maxLength: 2 });
  return fc.assert(
    fc.asyncProperty(
      fc.oneof(histories, arbitraryWorkingHistory(histories)).map(withReferencedFiles),
      plays,
      configs,
      async (supply, all, made) => {
        for (const one of all) await play(supply, one, made, countText);
      },
    ),
    { numRuns: runs(cases, least) },
  );
}

const SMALL = { sessionsPerRun: length(8, 4), maxCommands: 14, maxPortion: 12 };

describe('ResidentHistory', () => {
  it('plans and counts the same as the whole history, after every delta', async () => {
    await holds(arbitraryHistory({ maxEntries: 80 }), countThirds, { ...SMALL, cases: 1_500 });
  });

  it('does the same for broken histories', async () => {
    await holds(arbitraryBrokenHistory(), countThirds, { ...SMALL, cases: 900 });
  });

  it('does the same when more is added at once than fits a message', async () => {
    const sizes = { sessionsPerRun: 1, maxCommands: 8, maxPortion: 700, cases: 60, least: 3 };
    await holds(arbitraryHistory(), countThirds, sizes);
    expect(seen.continued).toBeGreaterThan(0);
  });

  it('counts the same as the o200k encoding', async () => {
    await holds(arbitraryHistory({ maxEntries: 40 }), countO200k, {
      ...SMALL,
      sessionsPerRun: 2,
      cases: 40,
    });
  });

  it('plans as well when it counts nothing', async () => {
    await holds(arbitraryHistory({ maxEntries: 80 }), undefined, { ...SMALL, cases: 60 });
  });

  it('was tested in every relevant state', () => {
    expect(seen.sessions).toBeGreaterThan(sightings(10_000));
    // Rare states must occur, but not often: some 100 times on average.
    const rare: Readonly<Record<string, number>> = {
      ...{ continued: 0, foretoldReasoning: 25, excerpts: 12, spent: 25 },
    };
    for (const [kind, times] of Object.entries(seen)) {
      expect([kind, times > sightings(rare[kind] ?? 100)]).toEqual([kind, true]);
    }
  });

  it('refuses a delta out of sequence', () => {
    const base = { revision: 0, length: 0 };
    const options = { agent: RESIDENT_AGENT, countsTokens: false };
    const delta = { before: base, after: base, steps: [] };
    const outOfStep = expect.objectContaining({ code: 'RESIDENT_OUT_OF_STEP' }) as Error;
    const opened = (): ResidentHistory => {
      const resident = new ResidentHistory(options, undefined);
      resident.receive({ ...delta, sequence: 1 });
      return resident;
    };
    expect(() => opened().receive({ ...delta, sequence: 1 })).toThrow(outOfStep);
    expect(() => opened().receive({ ...delta, sequence: 3 })).toThrow(outOfStep);
    const elsewhere = { revision: 1, length: 0 };
    expect(() => opened().receive({ ...delta, sequence: 2, before: elsewhere })).toThrow(outOfStep);
    const longer = { revision: 0, length: 1 };
    expect(() => opened().receive({ ...delta, sequence: 2, after: longer })).toThrow(outOfStep);
    const uncovered = { kind: 'rewrite' as const, sources: Int32Array.of(-1) };
    const unstaged = { ...delta, sequence: 2, after: longer, steps: [uncovered] };
    expect(() => opened().receive(unstaged)).toThrow(outOfStep);
  });

  it('keeps nothing of new entries while an edit waits for the rest of it', async () => {
    const resident = new ResidentHistory(
      { agent: RESIDENT_AGENT, countsTokens: true },
      countThirds,
    );
    const history = linedHistory.entries(REACH_RESULTS);
    const { length } = history;
    const edits = history.slice(0, 201);
    const replaced = Int32Array.from(edits.keys());
    const [before, after] = [0, 1].map((revision) => ({ revision, length }));
    const stage = (contents: readonly IContent[]): DeltaStep => {
      return { kind: 'stage', contents, knownTokens: new Int32Array(contents.length).fill(-1) };
    };
    const receive = (sequence: number, end: DensityBase, steps: readonly DeltaStep[]): void => {
      const start = sequence === 1 ? { revision: 0, length: 0 } : before!;
      resident.receive({ sequence, before: start, after: end, steps });
    };
    receive(1, before!, [stage(history)]);
    const arrived = ((): readonly WeakRef<object>[] => {
      const copies = structuredClone(edits.slice(0, -1));
      const edit = { kind: 'edit', removals: new Int32Array(), replaced } as const;
      receive(2, before!, [edit, stage(copies)]);
      return copies.flatMap((entry) => [entry, ...entry.blocks].map((held) => new WeakRef(held)));
    })();
    await collectGarbage(1);
    expect(arrived.filter((held) => held.deref() !== undefined)).toEqual([]);
    receive(3, after!, [stage(edits.slice(-1))]);
    const plan = planWithTexts(history, { ...DEFAULT_DENSITY_CONFIG, ...RESIDENT_AGENT }).plan;
    expectEqual(planAt(resident, 4, after!, DEFAULT_DENSITY_CONFIG), plan);
  });

  it.each([
    { edited: 1_200, removed: 0, after: 300 },
    { edited: 100, removed: 900, after: 20 },
    { edited: 900, removed: 0, after: 1_300 },
  ])('knows which lines newer results have after a large edit: %o', (parts) => {
    const { edited, removed, after } = parts;
    const { fill } = linedHistory;
    const pairs = edited + removed + after;
    const history = linedHistory.entries(pairs);
    // Each edited entry keeps one of its results, which is sent once more.
    const replaced = Int32Array.from({ length: edited }, (_unused, at) => 2 * at + 1);
    const edits = [...replaced].map((at) => {
      const { speaker, blocks } = history[at]!;
      const [first, second] = blocks;
      return { speaker, blocks: [{ ...first, result: '' } as ContentBlock, second!] };
    });
    const removals = Int32Array.from({ length: 2 * removed }, (_unused, at) => 2 * edited + at);
    const left = history
      .map((entry, at) => (at % 2 === 1 && edits[(at - 1) / 2]) || entry)
      .filter((_unused, at) => at < 2 * edited || at >= 2 * (edited + removed));
    // The last result repeats the result of the entry before it.
    const last = linedHistory.entries(1, pairs)[0]!;
    const shown = fill(pairs - 1, 1);
    const news: IContent[] = [
      { ...last, blocks: last.blocks.slice(0, 1) },
      { speaker: 'tool', blocks: [response(pairs, 0, `${shown}\nand more`)] },
    ];
    const resident = new ResidentHistory({ agent: RESIDENT_AGENT, countsTokens: false }, undefined);
    const stage = (contents: readonly IContent[]): DeltaStep => {
      return { kind: 'stage', contents, knownTokens: new Int32Array(contents.length) };
    };
    const states = [0, history.length, left.length, left.length + news.length];
    const steps: readonly (readonly DeltaStep[])[] = [
      [stage(history)],
      [{ kind: 'edit', removals, replaced }, stage(edits)],
      [stage(news)],
    ];
    const baseOf = (at: number): DensityBase => ({
      revision: at < 2 ? 0 : 1,
      length: states[at] ?? 0,
    });
    steps.forEach((made, at) => {
      const [before, end] = [baseOf(at), baseOf(at + 1)];
      resident.receive({ sequence: at + 1, before, after: end, steps: made });
    });
    const settings = { ...DEFAULT_DENSITY_CONFIG, shrink: 'default' } as const;
    const planned = planAt(resident, 4, baseOf(3), settings);
    const plan = planWithTexts([...left, ...news], { ...settings, ...RESIDENT_AGENT }).plan;
    expect(hasRow(plan, [ACTION.shrink], left.length + 1, 0)).toBe(true);
    expectEqual(planned, plan);
  });

  it.each([
    { sent: 400, unsent: 1_700, lines: 14 },
    { sent: 30, unsent: 60, lines: 1_200 },
  ])('knows which lines the oldest of many unsent results have: %o', (parts) => {
    const { sent, unsent, lines } = parts;
    const former = linedHistory.entries(sent, 0, lines);
    const calls = Array.from({ length: unsent }, (_unused, at): ContentBlock => {
      return { type: 'tool_call', id: `c${sent + at}-0`, name: 'shell', parameters: {} };
    });
    // In reverse order of the calls: of many calls at a time, the last ones are known.
    const results = calls.toReversed().map((_unused, at): IContent => {
      // The first results repeat the last ones before the answer.
      const shown = linedHistory.fill(at < 5 ? sent - 1 - at : sent + at, 0, lines);
      const entry = sent + unsent - 1 - at;
      return { speaker: 'tool', blocks: [response(entry, 0, `${shown}\nand more`)] };
    });
    const history: IContent[] = [...former, { speaker: 'ai', blocks: calls }, ...results];
    const resident = new ResidentHistory({ agent: RESIDENT_AGENT, countsTokens: false }, undefined);
    const portions = [0, 2 * sent + 1, 2 * sent + 1 + (unsent >> 1), history.length];
    for (let at = 1; at < portions.length; at += 1) {
      const contents = history.slice(portions[at - 1], portions[at]);
      const knownTokens = new Int32Array(contents.length);
      resident.receive({
        sequence: at,
        before: { revision: 0, length: portions[at - 1]! },
        after: { revision: 0, length: portions[at]! },
        steps: [{ kind: 'stage', contents, knownTokens }],
      });
    }
    // The replacements of the last results before the answer say more, and still show these lines.
    const replaced = Int32Array.from({ length: 5 }, (_unused, at) => 2 * (sent - 5 + at) + 1);
    for (const [at, entry] of replaced.entries()) {
      const shown = linedHistory.fill(sent - 5 + at, 0, lines);
      history[entry] = { speaker: 'tool', blocks: [response(sent - 5 + at, 0, `${shown}\nagain`)] };
    }
    const contents = [...replaced].map((entry) => history[entry]!);
    const [before, after] = [0, 1].map((revision) => ({ revision, length: history.length }));
    resident.receive({
      sequence: portions.length,
      before: before!,
      after: after!,
      steps: [
        { kind: 'edit', removals: new Int32Array(), replaced },
        { kind: 'stage', contents, knownTokens: new Int32Array(contents.length) },
      ],
    });
    const settings = { ...DEFAULT_DENSITY_CONFIG, shrink: 'default' } as const;
    const planned = planAt(resident, portions.length + 1, after!, settings);
    const plan = planWithTexts(history, { ...settings, ...RESIDENT_AGENT }).plan;
    for (let at = 0; at < 5; at += 1) {
      expect(hasRow(plan, [ACTION.shrink], 2 * sent + 1 + at, 0)).toBe(true);
    }
    expectEqual(planned, plan);
  });
});

/** Asks for the plan of a pass on the present state. */
function planAt(
  resident: ResidentHistory,
  sequence: number,
  base: DensityBase,
  pass: PassSettings,
): DensityPlan | undefined {
  const delta = { sequence, before: base, after: base, steps: [], pass };
  return resident.receive(delta).pass?.plan;
}

function response(entry: number, block: number, result: string): ContentBlock {
  return { type: 'tool_response', callId: `c${entry}-${block}`, toolName: 'shell', result };
}

/** Pairs of calls with their results, whose lines are all different. */
const linedHistory = {
  fill(entry: number, block: number, length: number = 14): string {
    const lines = Array.from(
      { length },
      (_, line) => `entry ${entry}, ${block}: line ${line} of what was found`,
    );
    return lines.join('\n');
  },
  entries(count: number, from: number = 0, lines: number = 14): IContent[] {
    return Array.from({ length: count }, (_, at): IContent[] => {
      const entry = from + at;
      const call = (block: number): ContentBlock => {
        return { type: 'tool_call', id: `c${entry}-${block}`, name: 'shell', parameters: {} };
      };
      return [
        { speaker: 'ai', blocks: [call(0), call(1)] },
        {
          speaker: 'tool',
          blocks: [0, 1].map((block) => response(entry, block, this.fill(entry, block, lines))),
        },
      ];
    }).flat();
  },
};
