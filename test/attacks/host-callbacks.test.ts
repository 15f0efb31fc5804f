// A host's callbacks may throw, reject, hang or return nonsense. The turn continues or fails with a code; unchecked, it
// would end the process, send a request twice too large, or fail without a reason.

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createCompactor } from '../../src/main/compactor.js';
import type { Compactor } from '../../src/main/compactor.js';
import { ThreadSet } from '../../src/main/offload/thread-set.js';
import { WORKER_CODE } from '../../src/main/offload/worker-code.js';
import type { Session } from '../../src/main/session.js';
import { humanText } from '../../src/shared/content.js';
import { scriptedSummarizer, snapshot } from '../support/scripted-summarizer.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const opened: Compactor[] = [];

afterEach(async () => {
  await Promise.all(opened.splice(0).map((compactor) => compactor.close()));
});

/** A session that is full enough for the next window to compress with a model. */
async function dueSession(options: object, session: object = {}): Promise<Session> {
  const compactor = createCompactor({
    offload: 'inline',
    contextLimit: 4_000,
    settings: {
      'compression.strategy': 'one-shot',
      'compression.ahead': 1,
      'compression.threshold': 0.5,
    },
    summarizer: scriptedSummarizer(snapshot('short')),
    ...options,
  });
  opened.push(compactor);
  const made = await compactor.createSession(session);
  for (let at = 0; at < 12; at += 1) made.history.add(humanText(`${at} ${'word '.repeat(240)}`));
  return made;
}

describe('a tokenizer', () => {
  it.each([
    ['NaN', NaN],
    ['Infinity', Infinity],
    ['less than nothing', -1],
    ['a text', '1'],
    ['a promise', Promise.resolve(1)],
  ])('that returns %s has failed to count, and estimates stand in', async (_, count) => {
    const session = await dueSession({ tokenizer: { countTokens: () => count } });
    await expect(session.ensureCompressionBeforeSend('p')).rejects.toMatchObject({
      code: 'TOKEN_COUNT_FAILED',
      message: expect.stringMatching(/no promise of one\. The total holds estimates/) as string,
    });
    expect(session.contextUsage().source).toBe('estimated');
    expect(session.history.getTotalTokens()).toBeGreaterThan(2_000);
  });

  it('that rejects ends no process', async () => {
    const countTokens = (): Promise<number> => Promise.reject(new Error('of the tokenizer'));
    const session = await dueSession({ tokenizer: { countTokens } });
    await expect(session.ensureCompressionBeforeSend('p')).rejects.toMatchObject({
      code: 'TOKEN_COUNT_FAILED',
    });
    await new Promise((resolve) => setImmediate(resolve));
  });
});

describe('activeTodos', () => {
  it.each([
    ['throws', (): unknown => JSON.parse('{')],
    ['returns no list', () => ({ length: 1 })],
    ['returns what are no todos', () => [{ id: 1 }]],
    ['returns billions of holes', (): unknown => new Array(4_000_000_000)],
    ['is asynchronous and rejects', () => Promise.reject(new Error('of the todos'))],
  ])('that %s fails the compression with a code, or falls back', async (_, activeTodos) => {
    const session = await dueSession({}, { activeTodos });
    await expect(session.performCompression('p')).rejects.toMatchObject({
      code: 'TODOS_FAILED',
      message: expect.stringMatching(
        /threw: |Expected a list of \{ id, content, status \}/,
      ) as string,
    });
    expect(session.history.length).toBe(12);
    session.settings.set('compression.fallbackToTruncation', true);
    expect(await session.performCompression('p')).toMatchObject({
      outcome: 'applied',
      fallbackFrom: { error: { code: 'TODOS_FAILED' } },
    });
  });
});

describe('a summarizer', () => {
  it.each([
    ['function that throws', (): unknown => JSON.parse('{')],
    ['function that returns nothing', () => undefined],
    ['function that rejects', () => Promise.reject(new Error('of the summarizer'))],
    ['that throws', { contextLimit: 9_000, generate: (): unknown => JSON.parse('{') }],
    ['that returns nothing', { contextLimit: 9_000, generate: () => undefined }],
  ])('%s fails the compression with a code', async (_, summarizer) => {
    const session = await dueSession({ summarizer });
    await expect(session.performCompression('p')).rejects.toMatchObject({
      code: 'SUMMARIZER_FAILED',
    });
  });

  it.each([
    ['an error with an object as its message', Object.assign(new Error(), { message: { a: 1 } })],
    ['an error without a message', Object.assign(new Error(), { message: undefined })],
    ['an error whose stack is no text', Object.assign(new Error(), { stack: {} })],
    ['nothing', undefined],
  ])('that throws %s fails the compression with a code', async (_, thrown: unknown) => {
    const generate = vi.fn<() => Promise<never>>().mockRejectedValue(thrown);
    const session = await dueSession({ summarizer: { contextLimit: 9_000, generate } });
    await expect(session.performCompression('p')).rejects.toMatchObject({
      code: 'SUMMARIZER_FAILED',
    });
  });

  it('whose answer throws when it is read fails the compression with a code', async () => {
    const answer = {
      finishReason: 'stop',
      get text(): string {
        throw new Error('the response was blocked');
      },
    };
    const generate = (): Promise<object> => Promise.resolve(answer);
    const session = await dueSession({ summarizer: { contextLimit: 9_000, generate } });
    await expect(session.performCompression('p')).rejects.toMatchObject({
      code: 'SUMMARIZER_FAILED',
    });
  });

  it('that hangs is given up at its deadline', async () => {
    const generate = (): Promise<never> => new Promise(() => undefined);
    const session = await dueSession({
      summarizer: { contextLimit: 9_000, timeoutMs: 20, generate },
    });
    await expect(session.performCompression('p')).rejects.toMatchObject({
      code: 'SUMMARIZER_TIMEOUT',
    });
  });

  it.each([NaN, 0, -1, '5'])('refuses a timeoutMs of %s', (timeoutMs) => {
    const summarizer = { ...scriptedSummarizer('x'), timeoutMs } as never;
    expect(() => createCompactor({ summarizer })).toThrow(RangeError);
  });
});

describe('a logger', () => {
  const fail = (): never => {
    throw new Error('of the logger');
  };
  it.each([
    ['throws', fail],
    ['rejects', () => Promise.reject(new Error('of the logger'))],
  ])('that %s fails no turn, and is reported once', async (_, log) => {
    const warn = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    const logger = { debug: log, warn: log, error: log };
    const session = await dueSession({ logger });
    session.on('compressed', fail);
    expect(await session.ensureCompressionBeforeSend('p')).toMatchObject({
      compressed: { outcome: 'applied' },
    });
    expect(warn).toHaveBeenCalledOnce();
    expect(JSON.stringify(warn.mock.calls)).not.toContain('of the logger');
    warn.mockRestore();
  });
});

describe('createSession', () => {
  it.each([
    ['a Set', new Set([humanText('x')])],
    ['a generator', [humanText('x')].values()],
    ['an object', { 0: humanText('x'), length: 1 }],
    ['a text', 'history'],
  ])('refuses %s as a history, and opens nothing', async (_, history) => {
    const compactor = createCompactor({ offload: 'inline' });
    opened.push(compactor);
    await expect(compactor.createSession({ history } as never)).rejects.toThrow(TypeError);
    expect(compactor.stats().sessions).toBe(0);
  });

  it('names each option of density that is wrong', async () => {
    const compactor = createCompactor({ offload: 'inline' });
    opened.push(compactor);
    const density = { toolCatalog: { read: [{}] }, inclusionSyntaxes: 'all', workspaceRoot: 7 };
    await expect(compactor.createSession({ density } as never)).rejects.toThrow(
      /workspaceRoot: .*toolCatalog: read: 0: access: .*inclusionSyntaxes: /,
    );
  });
});

describe('a session that is closed', () => {
  it('takes no entry, and compresses nothing', async () => {
    const session = await dueSession({});
    await session.close();
    const closed = { code: 'CLOSED' };
    expect(() => {
      session.history.add(humanText('late'));
    }).toThrow(expect.objectContaining(closed));
    await expect(session.performCompression('p')).rejects.toMatchObject(closed);
    await expect(session.ensureDensityOptimized()).rejects.toMatchObject(closed);
    await expect(session.enforceContextWindow('p')).rejects.toMatchObject(closed);
    await expect(session.ensureCompressionBeforeSend('p')).rejects.toMatchObject(closed);
    expect(session.history.length).toBe(12);
  });
});

describe('ThreadSet', () => {
  it('reports foreign messages, and throws none of them', async () => {
    const source = `
      import { parentPort } from 'node:worker_threads';
      for (const message of [null, 5, 'x', {}, { strayError: 7 }, { strayError: { name: 1 } }]) {
        parentPort.postMessage(message);
      }
      export default () => 'answer';`;
    const strays: Error[] = [];
    const threads = new ThreadSet({
      code: WORKER_CODE,
      data: { tokens: { failure: 'none' }, module: `file://${await moduleFile(source)}` },
      threads: 1,
      maxHeapMb: 64,
      residentsOn: () => 0,
      onChange: () => undefined,
      onStrayError: (error) => strays.push(error),
      onNotLoaded: () => undefined,
    });
    await expect.poll(() => strays).toHaveLength(6);
    expect(strays.every((error) => 'code' in error && error.code === 'WORKER_FAILED')).toBe(true);
    await threads.destroy();
  });
});

async function moduleFile(source: string): Promise<string> {
  const directory = temporaryFolder();
  const path = join(directory, 'worker.mjs');
  await writeFile(path, source);
  return path;
}
