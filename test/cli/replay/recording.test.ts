// The lifetime of results, the contents of the window, and the costs of requests.

import { describe, expect, test } from 'vitest';
import { aiContent, humanText } from '../../../src/index.js';
import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import type { IContent } from '../../../src/index.js';
import { sumInput } from '../../../src/cli/replay/money.js';
import { longSession, record, step } from '../../support/report-documents.js';

const LONG = 'one line of a long file\n'.repeat(200);
const TAKES_NOTHING = { workingSet: { ...DEFAULT_WORKING_SET, freeTokens: Infinity } };

/** The session with each entry some minutes after the one before. */
function timed(entries: readonly IContent[], minutes: readonly number[]): IContent[] {
  let timestamp = Date.UTC(2026, 0, 31, 23, 0);
  return entries.map((entry, at) => {
    timestamp += (minutes[at] ?? 0) * 60_000;
    return { ...entry, metadata: { timestamp, model: 'claude-opus-5-5' } };
  });
}

describe('the lifetime of a result', () => {
  test('lasts from the first call with the result to its removal, with the last use of its file', async () => {
    const { lives } = await record(
      [
        humanText('fix'),
        ...step('r', 'Read', { file_path: '/w/a.ts' }, LONG),
        ...step('b', 'Bash', { command: 'ls' }, 'a.ts'),
        ...step('w', 'Write', { file_path: '/w/a.ts' }, 'done'),
        aiContent('finished'),
      ],
      TAKES_NOTHING,
    );
    expect(lives).toMatchObject([
      { tool: 'Read', birth: 1, lastUse: 2, shortened: null, removed: 3, rule: 'read-write' },
      { tool: 'Bash', birth: 2, lastUse: 2, removed: null, rule: null },
      { tool: 'Write', birth: 3, lastUse: 3, removed: null },
    ]);
  });

  test('distinguishes a placeholder from a removal', async () => {
    const { lives } = await record(
      [
        humanText('look'),
        ...step('1', 'Bash', { command: 'cat 1' }, LONG),
        ...step('2', 'Bash', { command: 'cat 2' }, LONG),
        aiContent('finished'),
      ],
      { ...TAKES_NOTHING, recency: 1 },
    );
    expect(lives).toMatchObject([
      { shortened: 2, removed: null, rule: 'recency' },
      { shortened: null, removed: null },
    ]);
  });
});

describe('what fills the window', () => {
  test('adds up to the final history, with ctxfold and without', async () => {
    const { report, contexts, tokensOf } = await record(longSession(30), { recency: 2 });
    const sum = (entries: readonly IContent[]): number =>
      entries.reduce((total, entry) => total + tokensOf(entry), 0);
    const [{ added, remaining }] = contexts;
    expect(sum(added)).toBe(report.end.tokens.without);
    expect(sum(remaining)).toBe(report.end.tokens.with);
    expect(sum(remaining)).toBeLessThan(sum(added));
  });
});

/** Long enough that every request can be cached. */
const START = humanText('lorem ipsum '.repeat(1_000));

describe('the requests', () => {
  test('are those of the model calls, and read no more from the cache than was sent before', async () => {
    const { report, requests } = await record(longSession(30), { recency: 2 });
    const sent = requests.map((request) => request.with.sentTokens);
    expect(sent).toEqual(report.modelCalls.map(({ tokens }) => tokens.with));
    const sums = sumInput(requests);
    expect(sums.without.sentTokens).toBe(report.input.without);
    expect(sums.rewrites).toBeGreaterThan(0);
    requests.forEach((request, at) => {
      for (const side of ['with', 'without'] as const) {
        const former = requests[at - 1]?.[side].sentTokens ?? 0;
        expect(request[side].cacheReadTokens).toBeLessThanOrEqual(former);
      }
      // Without an edit, everything sent before is read from the cache.
      if (request.rewrites === 0 && at > 0) expect(request.with.cacheReadTokens).toBe(sent[at - 1]);
    });
  });

  test('read nothing from the cache after five idle minutes, by recorded times', async () => {
    const entries = longSession(5);
    const gaps = [0, 1, 0, 1, 0, 1, 3, 3, 0, 1];
    const { requests, model } = await record([START, ...timed(entries, gaps)], TAKES_NOTHING);
    expect(requests.map(({ isCold }) => isCold)).toEqual([true, false, false, true, false]);
    expect(requests.map(({ without }) => without.cacheReadTokens > 0)).toEqual([
      ...[false, true, true],
      ...[false, true],
    ]);
    expect(model).toBe('claude-opus-5-5');
  });

  test('have the prices of the recorded model, or of another if given', async () => {
    const entries = [START, ...timed(longSession(5), [0, 1, 0, 1, 0, 1, 3, 3, 0, 1])];
    const long = entries.map((entry) => ({
      ...entry,
      metadata: { ...entry.metadata, model: 'gpt-6.2-sol' },
    }));
    const named = await record(long, TAKES_NOTHING);
    expect(named.requests.map(({ isCold }) => isCold)).toEqual([
      true,
      ...Array<boolean>(4).fill(false),
    ]);
    const { money } = named.report;
    const { sentTokens, cacheReadTokens, dollars } = money.with;
    expect(money.price).toMatchObject({ origin: 'recorded', price: { name: 'gpt-6.2-sol' } });
    expect(dollars).toBeCloseTo(
      (0.1 * cacheReadTokens + 2.5 * (sentTokens - cacheReadTokens)) / 1e6,
      9,
    );
    const price = { name: '', input: 1, cacheRead: 1, cacheWrite: 1 };
    const given = await record(long, { ...TAKES_NOTHING, price });
    expect(given.report.money.with.dollars).toBeCloseTo(sentTokens / 1e6, 9);
    const unnamed = await record(longSession(5), TAKES_NOTHING);
    expect(unnamed.report.money.price.origin).toBe('assumed');
    expect(unnamed.report.money.with.dollars).toBeGreaterThan(0);
  });

  test('give the saving of each rule, which add up to the whole saving', async () => {
    const { report } = await record(longSession(30), { recency: 2 });
    const { savedBy, without, with: left } = report.money;
    expect(savedBy['recency']).not.toBe(0);
    const saved = Object.values(savedBy).reduce((sum, dollars) => sum + dollars, 0);
    expect(saved).toBeCloseTo(without.dollars - left.dollars, 9);
  });
});
