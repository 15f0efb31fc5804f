// Unknown option names are refused wherever options are accepted, with a suggestion.

import { describe, expect, it } from 'vitest';

import { queuedSummarizer } from '../../src/bullmq.js';
import { createCompactor, HistoryService } from '../../src/index.js';
import { instrumentCtxfold } from '../../src/otel.js';
import { postgresStore } from '../../src/postgres.js';
import { redisStore } from '../../src/redis.js';
import { readRemovals } from '../../src/removal-log.js';
import { directoryStore, memoryStore } from '../../src/state.js';
import { PromptResolver } from '../../src/strategies.js';
import { readTranscript } from '../../src/transcripts.js';
import { TurnLoop } from '../../src/turn-loop.js';
import { validate } from '../../src/validate.js';

/** Options with a misspelt name, which the parameter types would refuse. */
function misspelt(options: Readonly<Record<string, unknown>>): never {
  return options as never;
}

const client = { call: () => Promise.resolve(null) };
const pool = { query: () => Promise.resolve({ rows: [] }) };
const queue = { add: () => Promise.reject(new Error()), getJob: () => Promise.resolve(undefined) };
const summarizer = { contextLimit: 1_000, generate: () => Promise.reject(new Error()) };

const TAKERS: readonly (readonly [what: string, meant: string, take: () => unknown])[] = [
  ['a store in memory', 'ttlMs', () => memoryStore(misspelt({ ttlMS: 1 }))],
  ['a store in a directory', 'ttlMs', () => directoryStore('states', misspelt({ ttl_ms: 1 }))],
  ['a store in Redis', 'prefix', () => redisStore(client, misspelt({ prefixes: 'a' }))],
  ['a store in PostgreSQL', 'maxBytes', () => postgresStore(pool, misspelt({ maxByte: 1 }))],
  ['a history', 'keepsAdded', () => new HistoryService(misspelt({ keepAdded: true }))],
  ['prompts', 'directory', () => new PromptResolver(misspelt({ directry: 'a' }))],
  ['a reader of removals', 'endOffset', () => readRemovals('a', misspelt({ endoffset: 1 }))],
  ['a reader of sessions', 'format', () => readTranscript('a', misspelt({ formats: 'pi' }))],
  ['telemetry', 'tracer', () => instrumentCtxfold(misspelt({ tracers: undefined, tracr: {} }))],
  ['a check', 'thinking', () => validate([], 'openai-chat', misspelt({ thinkin: true }))],
  [
    'a queue',
    'takenWithinMs',
    () => queuedSummarizer(summarizer, misspelt({ queue, store: memoryStore(), takenWithin: 1 })),
  ],
];

describe('options with an unknown name', () => {
  it.each(TAKERS)('are refused by %s', async (_, meant, take) => {
    await expect((async () => take())()).rejects.toThrow(
      expect.objectContaining({
        name: 'RangeError',
        message: expect.stringContaining(`'${meant}'`),
      }),
    );
  });

  it('are refused by a turn loop and its messages', async () => {
    const compactor = createCompactor({ offload: 'inline' });
    const model = { stream: () => (async function* () {})() };
    const session = await compactor.createSession();
    expect(() => new TurnLoop(misspelt({ session, model, tool: {} }))).toThrow("'tools'");
    const loop = new TurnLoop({ session, model });
    await expect(loop.sendMessage('go', misspelt({ promptID: 'a' }))).rejects.toThrow("'promptId'");
    expect(session.history.length).toBe(0);
    await compactor.close();
  });
});
