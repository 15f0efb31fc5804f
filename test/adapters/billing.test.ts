// Compares `costs()` with what providers bill, and the reported causes of cache misses with the real ones, over recorded
// sessions with gaps, through the real SDKs.

import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';

import { compactionMiddleware } from '../../src/anthropic.js';
import type { Compactor } from '../../src/main/compactor.js';
import { modelPrice } from '../../src/main/models/model-prices.js';
import type { Session } from '../../src/main/session.js';
import { inputCompactor, reportedBy } from '../../src/openai.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import type { IContent } from '../../src/shared/content.js';
import { CachingProvider } from '../support/caching-provider.js';
import type { Billed } from '../support/caching-provider.js';
import { claudeBlocks, recordedEntries, responseItems } from '../support/recorded-talks.js';
import { openCompactor } from '../support/open-compactor.js';

const FILE = 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl';
const MINUTE = 60_000;
/** The same object in each call, as hosts pass it. */
const GO = { role: 'user', content: 'Go.' };
const SYSTEM = 'Be careful.';
/** Removes results early, so that a short session has edits as well. */
const EAGER = { ...DEFAULT_WORKING_SET, freeTokens: 0, readCalls: 3, outputCalls: 1 };

interface Played {
  readonly session: Session;
  readonly provider: CachingProvider;
  /** The same session, sent unedited. */
  readonly without: CachingProvider;
  /** Causes of cache misses that the session reported. */
  readonly reported: readonly string[];
}

type Send = (parts: readonly IContent[], system: string) => Promise<void>;

/** Every ninth call comes `gapMinutes` after the one before, the others after ten seconds. */
async function play(
  entries: readonly IContent[],
  gapMinutes: number,
  clock: { nowMs: number },
  changesSystem: boolean,
  send: Send,
): Promise<void> {
  let calls = 0;
  for (const [at, entry] of entries.entries()) {
    if (entry.speaker !== 'ai') continue;
    calls += 1;
    clock.nowMs += calls % 9 === 0 ? gapMinutes * MINUTE : 10_000;
    // The host changes its system text once.
    await send(entries.slice(0, at), changesSystem && calls > 14 ? `${SYSTEM}Be brief.` : SYSTEM);
  }
}

function open(model: string): {
  clock: { nowMs: number };
  providers: readonly [CachingProvider, CachingProvider];
  compactor: Compactor;
} {
  const clock = { nowMs: 0 };
  vi.spyOn(performance, 'now').mockImplementation(() => clock.nowMs);
  onTestFinished(() => void vi.restoreAllMocks());
  const price = modelPrice(model)!;
  const compactor = openCompactor();
  const now = (): number => clock.nowMs;
  return {
    clock,
    compactor,
    providers: [new CachingProvider(price, now), new CachingProvider(price, now)],
  };
}

async function playClaude(
  ttl: '5m' | '1h',
  gapMinutes: number,
  changesSystem: boolean,
): Promise<Played> {
  const model = 'claude-opus-5';
  const { clock, compactor, providers } = open(model);
  const [provider, without] = providers;
  const ttlMs = ttl === '1h' ? 60 * MINUTE : 5 * MINUTE;
  let session: Session | undefined;
  const reported: string[] = [];
  const request = (messages: readonly unknown[], head: string) => ({
    ...{ head, ttlMs },
    parts: messages.map((message) =>
      JSON.stringify(message, (key, value: unknown) =>
        key === 'cache_control' ? undefined : value,
      ),
    ),
  });
  const fetch: typeof globalThis.fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as { messages: unknown[]; system: string };
    const { inputTokens, readTokens } = provider.take(request(body.messages, body.system));
    const usage = {
      ...{ input_tokens: 0, output_tokens: 1, cache_read_input_tokens: readTokens },
      cache_creation_input_tokens: inputTokens - readTokens,
    };
    const answer = { id: 'm', type: 'message', role: 'assistant', model, content: [], usage };
    return Promise.resolve(Response.json(answer));
  };
  const client = new Anthropic({
    ...{ apiKey: 'none', maxRetries: 0, fetch },
    middleware: [
      compactionMiddleware(compactor, {
        density: { workingSet: EAGER },
        onSession: (made) => {
          session = made;
          made.on('cacheMissed', ({ cause }) => reported.push(cause));
        },
      }),
    ],
  });
  const known = new Map<IContent, object>();
  await play(
    await recordedEntries(FILE, 70),
    gapMinutes,
    clock,
    changesSystem,
    async (entries, system) => {
      const messages = [
        GO,
        ...entries.flatMap((entry) => {
          const content = claudeBlocks(entry);
          if (content.length === 0) return [];
          const role = entry.speaker === 'ai' ? 'assistant' : 'user';
          const message = known.get(entry) ?? { role, content };
          known.set(entry, message);
          return [message];
        }),
      ];
      without.take(request(messages, system));
      await client.messages.create({
        ...{ model, max_tokens: 100, system, cache_control: { type: 'ephemeral', ttl } },
        messages: messages as never,
      });
    },
  );
  return { session: session!, provider, without, reported };
}

async function playGpt(gapMinutes: number, changesSystem: boolean): Promise<Played> {
  const model = 'gpt-6-sol';
  const { clock, compactor, providers } = open(model);
  const [provider, without] = providers;
  let session: Session | undefined;
  const reported: string[] = [];
  const request = (items: readonly unknown[], head: string) => {
    return { head, ttlMs: 30 * MINUTE, parts: items.map((item) => JSON.stringify(item)) };
  };
  const fetch: typeof globalThis.fetch = (_, init) => {
    const body = JSON.parse(init?.body as string) as { input: unknown[]; instructions: string };
    const { inputTokens, readTokens } = provider.take(request(body.input, body.instructions));
    const usage = {
      ...{ input_tokens: inputTokens, output_tokens: 1, total_tokens: inputTokens + 1 },
      input_tokens_details: {
        ...{ cached_tokens: readTokens, cache_write_tokens: inputTokens - readTokens },
      },
    };
    return Promise.resolve(Response.json({ id: 'r', object: 'response', output: [], usage }));
  };
  const client = new OpenAI({ apiKey: 'none', maxRetries: 0, fetch });
  const compact = inputCompactor(compactor, {
    density: { workingSet: EAGER },
    onSession: (made) => {
      session = made;
      made.on('cacheMissed', ({ cause }) => reported.push(cause));
    },
  });
  let answer: unknown;
  await play(
    await recordedEntries(FILE, 70),
    gapMinutes,
    clock,
    changesSystem,
    async (entries, instructions) => {
      const items = [{ type: 'message', role: 'user', content: 'Go.' }, ...responseItems(entries)];
      without.take(request(items, instructions));
      const call = { modelName: model, conversationId: 'x', ...reportedBy(answer) };
      const input = await compact(items as never, call);
      answer = await client.responses.create({ model, instructions, input });
    },
  );
  return { session: session!, provider, without, reported };
}

/** The causes for all requests but the last, whose usage has not been reported yet. */
function missesOf(billed: readonly Billed[]): readonly string[] {
  return billed.slice(0, -1).flatMap(({ missed }) => missed ?? []);
}

const CASES: readonly [string, (changesSystem: boolean) => Promise<Played>][] = [
  ['Claude, kept for five minutes', (changes) => playClaude('5m', 6, changes)],
  ['Claude, kept for an hour', (changes) => playClaude('1h', 6, changes)],
  ['GPT, idle for longer', (changes) => playGpt(31, changes)],
];

describe('costs', () => {
  it.each(CASES)(
    'are what the provider bills, as far as estimates of tokens go: %s',
    async (_, start) => {
      const { session, provider, without } = await start(false);
      const { dollars } = session.costs();
      const billed = provider.dollars / without.dollars;
      expect(billed).toBeLessThan(0.97);
      expect(Math.abs(dollars!.with / dollars!.without - billed)).toBeLessThan(0.05);
      expect(Math.abs(dollars!.without / without.dollars - 1)).toBeLessThan(0.25);
    },
  );
});

describe('cacheMissed', () => {
  it.each(CASES)('tells why the provider missed its cache: %s', async (_, start) => {
    const { provider, reported } = await start(true);
    expect(reported).toEqual(missesOf(provider.billed));
    expect(reported).toContain('changed-request');
  });
});
