// An index of chosen entries, compared with a new index of the same history.

import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { IContent } from '../../../../src/shared/content.js';
import { NO_SIGNATURE } from '../../../../src/shared/density/index/hash.js';
import { NONE, RESPONSE_FLAG } from '../../../../src/shared/density/index/history-columns.js';
import { HistoryIndex } from '../../../../src/shared/density/index/history-index.js';
import type { ChosenIndex } from '../../../../src/shared/density/index/history-index.js';
import { scopeOfSession } from '../../../../src/shared/density/index/index-scope.js';
import type { IntColumn, Stretch } from '../../../../src/shared/density/index/history-columns.js';
import { stretchesOfRewrite } from '../../../../src/shared/density/index/stretches.js';
import { arbitraryBrokenHistory } from '../../../support/arbitrary-broken-history.js';
import { arbitraryHistory, WORKSPACE_ROOT } from '../../../support/arbitrary-history.js';
import {
  arbitraryWorkingHistory,
  WORKING_TOOLS,
} from '../../../support/arbitrary-working-history.js';
import { withReferencedFiles } from '../../../support/resident-session.js';
import { workingHistory } from '../../../support/working-notation.js';
import { runs, sightings } from '../../../support/scale.js';

const SCOPE = scopeOfSession({
  workspaceRoot: WORKSPACE_ROOT,
  toolCatalog: WORKING_TOOLS,
  inclusionSyntaxes: ['delimited', 'referenced-files'],
});

/** Numbers ids by first use, so that tables of indices with different ids can be compared. */
class Renaming {
  readonly #names = new Map<number, number>();

  of(ids: Iterable<number>): number[] {
    return Array.from(ids, (id) => {
      const name = this.#names.get(id) ?? this.#names.size;
      this.#names.set(id, name);
      return name;
    });
  }
}

function tablesOf(index: HistoryIndex): unknown {
  const { calls, responses, partials, inclusions } = index;
  const idsOf = (numbers: IntColumn): string[] =>
    Array.from(numbers.toArray(), (number) => index.idOf(number));
  const paths = new Renaming();
  const tools = new Renaming();
  return {
    length: index.length,
    calls: [
      ...[calls.entry, calls.block, calls.response, calls.access, calls.pathCount],
      ...[calls.kind, calls.firstLine, calls.lastLine, calls.signature],
    ]
      .map((column) => column.toArray())
      .concat(Int32Array.from(paths.of(calls.paths.toArray()))),
    answers: index.answers.toArray(),
    callIds: idsOf(calls.id),
    responses: [
      ...[responses.entry, responses.block, responses.call],
      ...[responses.flags, responses.tokens],
    ].map((column) => column.toArray()),
    tools: tools.of(responses.tool.toArray()),
    responseIds: idsOf(responses.id),
    partials: [partials.entry, partials.block, partials.call].map((column) => column.toArray()),
    partialIds: idsOf(partials.id),
    inclusions: [
      inclusions.entry,
      inclusions.block,
      inclusions.start,
      inclusions.end,
      inclusions.groupOpen,
      inclusions.groupClose,
    ].map((column) => column.toArray()),
    inclusionPaths: paths.of(inclusions.path.toArray()),
  };
}

function indexOf(history: readonly IContent[]): HistoryIndex {
  const index = new HistoryIndex(SCOPE);
  for (const entry of history) index.append(entry);
  return index;
}

/** Like `toStrictEqual`, but cheap if the tables are equal. */
function expectEqualTables(index: HistoryIndex, history: readonly IContent[]): void {
  const [actual, expected] = [tablesOf(index), tablesOf(indexOf(history))];
  if (!isDeepStrictEqual(actual, expected)) expect(actual).toStrictEqual(expected);
}

interface Rewrite {
  /** Positions in the former history, and `NONE` for a new entry. */
  readonly order: readonly number[];
  readonly isShuffled: boolean;
  /** Entries appended afterwards. */
  readonly appended: number;
}

const rewrite: fc.Arbitrary<Rewrite> = fc.record({
  order: fc.array(fc.oneof({ weight: 4, arbitrary: fc.nat(400) }, fc.constant(NONE)), {
    maxLength: 60,
    size: 'max',
  }),
  isShuffled: fc.boolean(),
  appended: fc.nat(10),
});

function sourcesOf({ order, isShuffled }: Rewrite, length: number): Int32Array {
  if (length === 0) return Int32Array.from(order.filter((place) => place === NONE));
  const sources = order.map((place) => (place === NONE ? NONE : place % length));
  if (isShuffled) return Int32Array.from(sources);
  const kept = sources.filter((source) => source !== NONE).sort((a, b) => a - b);
  return Int32Array.from(sources, (source) => (source === NONE ? NONE : (kept.shift() ?? NONE)));
}

/** Rows that the laws have checked. */
const seen = {
  ...{ calls: 0, paired: 0, open: 0, partials: 0, inclusions: 0, groups: 0, repaired: 0 },
  ...{ answers: 0, ranges: 0, signatures: 0, excerpts: 0 },
};

function note({ answers, calls, responses, partials, inclusions }: HistoryIndex): void {
  seen.calls += calls.length;
  seen.answers += answers.length;
  seen.ranges += calls.firstLine.toArray().filter((line) => line > 1).length;
  seen.signatures += calls.signature.toArray().filter((number) => number !== NO_SIGNATURE).length;
  const { excerpt } = RESPONSE_FLAG;
  seen.excerpts += responses.flags.toArray().filter((flags) => (flags & excerpt) !== 0).length;
  const open = calls.response.toArray().filter((response) => response === NONE).length;
  seen.open += open;
  seen.paired += calls.length - open;
  seen.partials += partials.call.toArray().filter((call) => call !== NONE).length;
  seen.inclusions += inclusions.length;
  seen.groups += inclusions.groupOpen.toArray().filter((block) => block !== NONE).length;
}

/** The rows of the former table, one by one. */
function rowsOf(stretches: readonly Stretch[]): number[] {
  return stretches.flatMap(({ start, end }) =>
    Array.from({ length: end - start }, (_, at) => start + at),
  );
}

/** Each row comes from an equal row of the same entry. */
function expectSources(
  from: HistoryIndex,
  { index, callRows, responseRows }: ChosenIndex,
  sources: readonly number[],
): void {
  const tables = [
    [from.calls, index.calls, rowsOf(callRows)],
    [from.responses, index.responses, rowsOf(responseRows)],
  ] as const;
  for (const [former, rows, rowSources] of tables) {
    expect(rowSources).toHaveLength(rows.length);
    for (const [row, source] of rowSources.entries()) {
      expect(former.entry.at(source)).toBe(sources[rows.entry.at(row)]);
      expect(former.block.at(source)).toBe(rows.block.at(row));
    }
  }
  const [calls, responses] = [rowsOf(callRows), rowsOf(responseRows)];
  for (const [row, source] of calls.entries()) {
    const former = from.calls.response.at(source);
    const response = index.calls.response.at(row);
    if (former !== (response === NONE ? NONE : responses[response])) seen.repaired += 1;
  }
}

function holds(histories: fc.Arbitrary<IContent[]>, cases: number): void {
  const rewrites = fc.array(rewrite, { minLength: 1, maxLength: 4, size: 'max' });
  fc.assert(
    fc.property(histories, fc.nat(60), rewrites, (history, start, made) => {
      const supply = withReferencedFiles(history);
      let next = start;
      const draw = (count: number): IContent[] => {
        const drawn = supply.slice(next, next + count);
        next += count;
        return drawn;
      };
      let entries = supply.slice(0, start);
      let index = indexOf(entries);
      for (const step of made) {
        let sources = sourcesOf(step, entries.length);
        const added = draw(sources.filter((source) => source === NONE).length);
        let incoming = added.length;
        // No entries are added once the supply has ended.
        sources = sources.filter((source) => source !== NONE || (incoming -= 1) >= 0);
        const stretches = stretchesOfRewrite(entries.length, sources);
        for (const entry of added) index.append(entry);
        const chosen = index.chosen(stretches);
        const places = rowsOf(stretches.list());
        const left = added.values();
        const former = entries;
        entries = Array.from(sources).flatMap((source) => {
          const entry = source === NONE ? left.next().value : former[source];
          return entry === undefined ? [] : [entry];
        });
        expectEqualTables(chosen.index, entries);
        expectSources(index, chosen, places);
        index = chosen.index;
        for (const entry of draw(step.appended)) {
          index.append(entry);
          entries.push(entry);
        }
        expectEqualTables(index, entries);
        note(index);
      }
    }),
    { numRuns: runs(cases) },
  );
}

describe('HistoryIndex', () => {
  it('equals, for chosen entries, the index of their history', () => {
    holds(arbitraryHistory(), 500);
    holds(arbitraryWorkingHistory(), 500);
  });

  it('does the same for broken histories', () => {
    holds(arbitraryBrokenHistory(), 250);
    holds(arbitraryWorkingHistory(arbitraryBrokenHistory()), 250);
  });

  it('was tested with every kind of row, and with calls that got another response', () => {
    for (const [kind, rows] of Object.entries(seen))
      expect([kind, rows > sightings(200)]).toEqual([kind, true]);
  });

  it('pairs a response of a running tool before the next one in the same entry', () => {
    const history: IContent[] = [
      { speaker: 'ai', blocks: [{ type: 'tool_call', id: 'a', name: 'run', parameters: {} }] },
      {
        speaker: 'tool',
        blocks: [false, true].map((isComplete) => ({
          type: 'tool_response',
          callId: 'a',
          toolName: 'run',
          result: '',
          isComplete,
        })),
      },
    ];
    const { index } = indexOf(history).chosen(stretchesOfRewrite(2, Int32Array.of(0, 1)));
    expect(index.partials.call.at(0)).toBe(0);
    expectEqualTables(index, history);
  });

  it('forgets unused ids once they are many', () => {
    const calls = (start: number): IContent[] =>
      Array.from({ length: 1_000 }, (_, at) => ({
        speaker: 'ai',
        blocks: [{ type: 'tool_call', id: String(start + at), name: 'run', parameters: {} }],
      }));
    let index = indexOf(calls(0));
    for (let round = 1; round <= 10; round += 1) {
      for (const entry of calls(1_000 * round)) index.append(entry);
      const left = Int32Array.from({ length: 1_000 }, (_, at) => 1_000 + at);
      index = index.chosen(stretchesOfRewrite(2_000, left)).index;
      expect(index.idCount).toBeLessThanOrEqual(2_000);
      expectEqualTables(index, calls(1_000 * round));
    }
  });

  it('notes nothing for a working set if there can be none', () => {
    const scope = { ...SCOPE, workingSet: false, recency: false, unsent: false };
    const [noting, other] = [new HistoryIndex(SCOPE), new HistoryIndex(scope)];
    for (const entry of workingHistory('run(cat_a.ts) lines(a.ts:1-9)')) {
      noting.append(entry);
      other.append(entry);
    }
    const columns = ({ calls, responses }: HistoryIndex): number[] =>
      [calls.kind, calls.firstLine, calls.lastLine, calls.signature, responses.tokens].map(
        ({ length }) => length,
      );
    expect(columns(noting)).toEqual([2, 2, 2, 2, 2]);
    expect(columns(other)).toEqual([0, 0, 0, 0, 0]);
    // Files named in a command matter only to a working set.
    expect(noting.calls.paths.length).toBe(2);
    expect(other.calls.paths.length).toBe(1);
  });

  it('adds a long list with few results in steps that do not read all of it', () => {
    let reads = 0;
    const history = Array.from({ length: 1_000 }, (_, at): IContent => ({
      get speaker() {
        reads += 1;
        return at % 2 === 0 ? 'human' : 'ai';
      },
      blocks: [{ type: 'text', text: 'said' }],
    }));
    const index = new HistoryIndex(SCOPE);
    for (let end = 10; end <= history.length; end += 10) index.extend(history, end);
    expect(index.length).toBe(1_000);
    expect(reads).toBeLessThan(4 * history.length);
  });

  it('notes no ids if it will not be rewritten', () => {
    const history: IContent[] = [
      {
        speaker: 'ai',
        blocks: [{ type: 'tool_call', id: 'a', name: 'read_file', parameters: {} }],
      },
    ];
    const index = new HistoryIndex({ ...SCOPE, isRewritable: false, unsent: false });
    for (const entry of history) index.append(entry);
    expect(index.calls.length).toBe(1);
    expect(index.calls.id.length).toBe(0);
    expect(index.idCount).toBe(0);
  });
});
