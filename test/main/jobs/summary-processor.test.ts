// The worker's side of a job, with stores that hosts write themselves.

import { hash } from 'node:crypto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { summaryProcessor } from '../../../src/main/jobs/summary-processor.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import type { Summarizer, SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';

const REQUEST = JSON.stringify({ system: 'summarize', prompt: 'what was said' });
const JOB = { data: { key: 'job', hash: hash('sha256', REQUEST) } };

/** A store as in plain JavaScript: a map, which returns `undefined` for unknown keys. */
function storeOf(texts: Map<string, string>): StateStore & Required<Pick<StateStore, 'get'>> {
  return {
    load: () => Promise.resolve(null),
    save: () => Promise.resolve(1),
    delete: async (key) => {
      for (const name of texts.keys()) if (name.startsWith(`${key} `)) texts.delete(name);
    },
    put: async (key, name, original) => void texts.set(`${key} ${name}`, original),
    get: async (key, name) => texts.get(`${key} ${name}`) as string,
  };
}

/** A model that answers when the test says so. */
function patientModel() {
  const asked: AbortSignal[] = [];
  let answer: (response: SummarizerResponse) => void = () => undefined;
  const model: Summarizer = {
    contextLimit: 1,
    generate: ({ signal }) =>
      new Promise((resolve, reject) => {
        asked.push(signal);
        answer = resolve;
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  };
  return { model, asked, answer: () => answer({ text: 'the goal', finishReason: 'stop' }) };
}

afterEach(() => void vi.useRealTimers());

describe('summaryProcessor', () => {
  it('asks the model if a store returns undefined for unknown keys', async () => {
    vi.useFakeTimers();
    const texts = new Map([[`job ${JOB.data.hash}`, REQUEST]]);
    const { model, asked, answer } = patientModel();
    const done = summaryProcessor(model, { store: storeOf(texts) })(JOB);
    // It polls whether the job was cancelled.
    await vi.advanceTimersByTimeAsync(3_500);
    expect(asked.map(({ aborted }) => aborted)).toEqual([false]);
    answer();
    expect(await done).toEqual({ answer: 'job-answer' });
    const [name, stored] = [...texts][0] ?? [];
    expect(name).toBe('job-answer answer');
    expect(JSON.parse(stored ?? '')).toMatchObject({ text: 'the goal' });
  });

  it.each([
    ['will be retried', { attemptsMade: 1, opts: { attempts: 3 } }, true],
    ['was the last attempt', { attemptsMade: 2, opts: { attempts: 3 } }, false],
    ['is of a queue that does not retry', { attemptsMade: 0, opts: {} }, false],
    ['is of no queue', {}, true],
  ])(
    'keeps the request of a failed job as long as it is needed: it %s',
    async (_, attempt, isKept) => {
      const texts = new Map([[`job ${JOB.data.hash}`, REQUEST]]);
      const generate = () => Promise.reject(new Error('no model'));
      const work = summaryProcessor({ contextLimit: 1, generate }, { store: storeOf(texts) });
      await expect(work({ ...JOB, ...attempt })).rejects.toThrow('could not answer');
      expect(texts.size).toBe(isKept ? 1 : 0);
    },
  );

  it('goes on while a store fails to say whether the job was cancelled', async () => {
    vi.useFakeTimers();
    const texts = new Map([[`job ${JOB.data.hash}`, REQUEST]]);
    const store = storeOf(texts);
    const { model, answer } = patientModel();
    const done = summaryProcessor(model, { store })(JOB);
    await vi.advanceTimersByTimeAsync(10);
    const { get } = store;
    store.get = () => {
      throw new Error('the client is closed');
    };
    await vi.advanceTimersByTimeAsync(3_000);
    store.get = get;
    answer();
    expect(await done).toEqual({ answer: 'job-answer' });
  });
});
