// The prefix in a provider's prompt cache stays unchanged however often the process changes: a session that starts with
// answers must neither land edits for lack of knowledge, nor lose edits that another session of this process had landed.

import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { ownConversations } from '../support/own-conversations.js';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import type { SessionOptions } from '../../src/main/session-options.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { estimateEntryTokens } from '../../src/shared/tokens/estimate.js';
import { arbitraryHistory } from '../support/arbitrary-history.js';
import { historyOf } from '../support/notation.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user,
} from '../support/plain-message-format.js';
import type { PlainMessage } from '../support/plain-message-format.js';
import { length, PLAYS_ALL, runs, sample } from '../support/scale.js';

let compactor: Compactor;

/** With an unlimited window, because a fresh process cannot reproduce a compression. */
function openCompactor(): Compactor {
  const contextLimit = 1_000_000_000;
  return createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate' },
    ...{ workspaceRoot: '/w', contextLimit },
  });
}

beforeEach(() => {
  compactor = openCompactor();
});

afterEach(async () => {
  vi.useRealTimers();
  await compactor.close();
});

/** The end of each request: before each answer of the model. */
function requestsOf(entries: readonly IContent[]): number[] {
  return entries.flatMap(({ speaker }, at) =>
    speaker === 'ai' && at > 0 && entries[at - 1]?.speaker !== 'ai' ? [at] : [],
  );
}

/** What one session sends that lives as long as the conversation. */
async function sentByOne(
  entries: readonly IContent[],
  options: SessionOptions,
): Promise<readonly string[]> {
  const session = await compactor.createSession(options);
  const sent: string[] = [];
  let added = 0;
  for (const at of requestsOf(entries)) {
    session.history.addAll(entries.slice(added, at));
    added = at;
    await session.ensureCompressionBeforeSend('p');
    sent.push(JSON.stringify(session.history.getAll()));
  }
  return sent;
}

/** What is sent with a process per request. */
async function sentByMany(
  entries: readonly IContent[],
  options: SessionOptions,
): Promise<readonly string[]> {
  const sent: string[] = [];
  for (const at of requestsOf(entries)) {
    const process = openCompactor();
    const session = await process.createSession({ ...options, history: entries.slice(0, at) });
    await session.ensureCompressionBeforeSend('p');
    sent.push(JSON.stringify(session.history.getAll()));
    await process.close();
  }
  return sent;
}

/**
 * What is sent from a request on by a process that takes over the conversation there, and then by another one with its
 * state.
 */
async function sentFrom(
  entries: readonly IContent[],
  options: SessionOptions,
  first: number,
): Promise<readonly string[]> {
  const requests = requestsOf(entries).slice(first);
  const history = entries.slice(0, requests[0]);
  let session = await compactor.createSession({ ...options, history });
  const sent: string[] = [];
  let added = history.length;
  for (const at of requests) {
    session.history.addAll(entries.slice(added, at));
    added = at;
    await session.ensureCompressionBeforeSend('p');
    sent.push(JSON.stringify(session.history.getAll()));
    if (sent.length !== 2) continue;
    const state = session.snapshot();
    session = await compactor.createSession({ ...options, history: entries.slice(0, at), state });
  }
  return sent;
}

/** A session that reads and writes files turn after turn; every write makes a large read stale. */
function longSession(turns: number): IContent[] {
  const entries = historyOf('h');
  for (let turn = 0; turn < turns; turn += 1) {
    const path = `f${turn % 7}.ts`;
    entries.push(...historyOf(`a:r${2 * turn}(${path}) t:r${2 * turn}`));
    const last = entries.at(-1)!;
    const [response] = last.blocks;
    entries[entries.length - 1] = {
      ...last,
      blocks: [{ ...response, result: `${turn} `.padEnd(4_000, 'x y z ') }] as never,
    };
    entries.push(...historyOf(`a:w${2 * turn + 1}(${path}) t:w${2 * turn + 1}`));
  }
  return entries;
}

/** Tokens at a tenth of the price for the shared prefix with the previous request, at 1.25 for others. */
function costOf(sent: readonly string[]): number {
  let before: readonly string[] = [];
  let cost = 0;
  for (const text of sent) {
    const request = JSON.parse(text) as IContent[];
    const entries = request.map((entry) => JSON.stringify(entry));
    let isPrefix = true;
    request.forEach((entry, at) => {
      isPrefix &&= entries[at] === before[at];
      cost += estimateEntryTokens(entry) * (isPrefix ? 0.1 : 1.25);
    });
    before = entries;
  }
  return cost;
}

describe('a session that is taken up in another process', () => {
  it('sends what one that lives for long sends, request by request', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbitraryHistory(),
        fc.integer({ min: 0, max: 400 }),
        fc.constantFrom(
          'keep' as const,
          'strip-after-first-edit' as const,
          'forbid-edits' as const,
        ),
        async (given, minReclaimTokens, reasoning) => {
          const entries = [humanText('go'), ...given].map(({ speaker, blocks }) => ({
            ...{ speaker, blocks },
          }));
          const options = { edits: 'batched', minReclaimTokens, reasoning } as const;
          expect(await sentByMany(entries, options)).toEqual(await sentByOne(entries, options));
        },
      ),
      { numRuns: runs(150, 5) },
    );
  });

  it('goes on as that would, with what earlier requests leave to spend', async () => {
    const turn = fc.record({
      file: fc.nat(30),
      size: fc.integer({ min: 200, max: 9_000 }),
      writes: fc.integer({ min: 0, max: 4 }).map((one) => one === 0),
    });
    const turns = fc.array(turn, { minLength: 30, maxLength: 60, size: 'max' });
    await fc.assert(
      fc.asyncProperty(turns, fc.double({ min: 0.3, max: 0.9, noNaN: true }), async (turns, at) => {
        const entries = historyOf('h');
        for (const [number, { file, size, writes }] of turns.entries()) {
          const [use, end] = historyOf(
            writes
              ? `a:w${number}(f${file}.ts) t:w${number}`
              : `a:r${number}(f${file}.ts) t:r${number}`,
          );
          const result = writes ? 'ok' : `${number} `.padEnd(size, 'x y z ');
          entries.push(use!, { ...end!, blocks: [{ ...end!.blocks[0], result }] as never });
        }
        const options = { edits: 'auto' } as const;
        const one = await sentByOne(entries, options);
        const first = Math.floor(at * one.length);
        expect(await sentFrom(entries, options, first)).toEqual(one.slice(first));
      }),
      { numRuns: runs(80, 15) },
    );
  });

  it('costs no more than one that lives for long, and less than nothing at all', async () => {
    const entries = longSession(length(50));
    const options = { edits: 'batched', minReclaimTokens: 8_000 } as const;
    const nothing = requestsOf(entries).map((at) => JSON.stringify(entries.slice(0, at)));
    const [one, many] = [await sentByOne(entries, options), await sentByMany(entries, options)];
    expect(many).toEqual(one);
    expect(costOf(many)).toBeLessThan(costOf(nothing));
  });

  it('comes to the same after hundreds of requests, when not every window may land a batch', async () => {
    const entries = longSession(120);
    const last = requestsOf(entries).at(-1)!;
    const thresholds = Array.from({ length: 13 }, (_, at) => 3_000 + 750 * at);
    for (const minReclaimTokens of sample(thresholds, 1)) {
      const options = { edits: 'batched', minReclaimTokens } as const;
      const one = await sentByOne(entries, options);
      const session = await compactor.createSession({
        ...options,
        history: entries.slice(0, last),
      });
      await session.ensureCompressionBeforeSend('p');
      expect(JSON.stringify(session.history.getAll())).toBe(one.at(-1));
    }
  });

  it('lands nothing merely because it knows nothing, at birth either', async () => {
    const entries = historyOf('h a:r1 t:r1 a:w2 t:w2 a:r3 t:r3');
    for (const edits of ['batched', 'at-birth'] as const) {
      const sent = await sentByMany(entries, { edits, minReclaimTokens: 20_000 });
      expect(sent.at(-1)).toBe(JSON.stringify(entries.slice(0, requestsOf(entries).at(-1))));
    }
  });

  it('lands what waits when its entries tell that the cache went cold, and again afterwards', async () => {
    const at = (timestamp: number) => (entry: IContent) => ({ ...entry, metadata: { timestamp } });
    const past = historyOf('h a:r1 t:r1 a:w2 t:w2').map(at(1_000));
    const back = historyOf('h').map(at(1_000 + 300_000));
    const next = historyOf('a:r5(z.ts) t:r5').map(at(1_000 + 300_500));
    const take = async (
      history: IContent[],
    ): Promise<readonly [string | undefined, IContent[]]> => {
      const session = await compactor.createSession({
        edits: 'batched',
        minReclaimTokens: 20_000,
        history,
      });
      const { pruned } = await session.ensureCompressionBeforeSend('p');
      return [pruned?.reason, session.history.getAll()];
    };
    expect((await take(past))[0]).toBeUndefined();
    const [reason, sent] = await take([...past, ...back]);
    expect(reason).toBe('cache-cold');
    const [again, later] = await take([...past, ...back, ...next]);
    expect(again).toBe('sent-before');
    expect(later.slice(0, sent.length)).toEqual(sent);
  });
});

describe('more conversations than are remembered', () => {
  /** Users call in turn, each time with more messages. Returns what each call sent. */
  async function roundRobin(users: number, idleMs: number): Promise<readonly PlainMessage[][][]> {
    vi.useFakeTimers({ toFake: ['Date', 'performance'] });
    const conversations = ownConversations(compactor, PLAIN_MESSAGE_FORMAT, {
      edits: 'batched',
      minReclaimTokens: 300,
    });
    const messages = Array.from({ length: users }, (_, at) => [user(`user ${at}`)]);
    const sent: PlainMessage[][][] = messages.map(() => []);
    for (let turn = 0; turn < 12; turn += 1) {
      for (const [at, list] of messages.entries()) {
        sent[at]!.push(await conversations.compact(list));
        const path = { file_path: `f${turn % 3}.ts` };
        const tool = turn % 2 === 0 ? 'read_file' : 'write_file';
        list.push(assistant(call(`${turn}`, tool, path)));
        list.push(answer(`${turn}`, tool, `${at} ${turn} `.padEnd(400, 'x y z ')));
      }
      // Some caches go cold, and only the session knows what lands then.
      vi.advanceTimersByTime(turn % 5 === 4 ? idleMs : 1_000);
    }
    return sent;
  }

  it.each(sample([0, 400_000], 1))(
    'changes no prefix that few would not, idle for %i ms',
    async (idleMs) => {
      const few = await roundRobin(2, idleMs);
      await compactor.close();
      compactor = openCompactor();
      const many = await roundRobin(PLAYS_ALL ? 40 : 20, idleMs);
      expect(many.map((calls) => calls.map(({ length }) => length))).toEqual(
        many.map(() => few[0]!.map(({ length }) => length)),
      );
      expect(many.slice(0, 2)).toEqual(few);
    },
  );
});
