// A process per request: a summary that one process has requested from a delegating summarizer lands in the next one.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import type { CostReport } from '../../../src/main/preflight/cost-meter.js';
import type { SummaryCounts } from '../../../src/main/state/session-state.js';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import type {
  Summarizer,
  SummarizerRequest,
  SummarizerResponse,
} from '../../../src/main/summarizer/summarizer.js';
import type { Todo } from '../../../src/main/summarizer/todo.js';
import type { OwnStrategyName } from '../../../src/main/strategies/strategy.js';
import type { IContent } from '../../../src/shared/content.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { historyOf } from '../../support/notation.js';
import { snapshot } from '../../support/scripted-summarizer.js';

/** Some 700 tokens that no rule removes. */
function turn(at: number): IContent[] {
  const words = Array.from({ length: 200 }, (_, word) => `word-${at}-${word}`).join(' ');
  return historyOf(`h:"turn ${at}" a:"${words}" h:"thanks" a:"done ${at}"`);
}

/** As many, in the result of a tool. */
function read(at: number): IContent[] {
  const words = Array.from({ length: 200 }, (_, word) => `word-${at}-${word}`).join(' ');
  return historyOf(`h:"read ${at}" a:r${at}(${at}.ts) t:r${at}("${words}") a:"done"`);
}

/** Workers that outlive the processes, as behind a queue. */
class Workers {
  readonly requests: SummarizerRequest[] = [];
  readonly answers: Map<string, SummarizerResponse> = new Map();
  readonly looks: string[] = [];
  /** Why requests were aborted. */
  readonly reasons: string[] = [];

  readonly summarizer: Summarizer & Required<Pick<Summarizer, 'answerTo'>> = {
    contextLimit: 128_000,
    generate: (request) =>
      new Promise((_, reject) => {
        this.requests.push(request);
        request.signal.addEventListener('abort', () => {
          this.reasons.push((request.signal.reason as Error).message);
          reject(request.signal.reason as Error);
        });
      }),
    answerTo: (id) => {
      this.looks.push(id);
      return Promise.resolve(this.answers.get(id));
    },
  };

  answer(text: string, of: Partial<SummarizerResponse> = {}): void {
    for (const { id = '' } of this.requests)
      this.answers.set(id, { text: snapshot(text), finishReason: 'stop', ...of });
  }
}

interface Conversation {
  readonly workers: Workers;
  readonly history: IContent[];
  /** Serves a request in a new process, and once more; returns what the second one sends. */
  readonly serve: (todos?: readonly Todo[], strategy?: OwnStrategyName) => Promise<string>;
  /** The compressions so far. */
  readonly compressed: readonly CompressedEvent[];
  readonly summaries: () => SummaryCounts | undefined;
  /** While down, the store takes no state. It is up again when a process ends. */
  readonly outage: { isDown: boolean };
}

/** @param sessionId without one, a conversation is found by its first entries */
function converse(sessionId: string | undefined): Conversation {
  const workers = new Workers();
  const history: IContent[] = [];
  const outage = { isDown: false };
  const memory = memoryStore();
  const store: StateStore = {
    ...memory,
    save: (...state) =>
      outage.isDown ? Promise.reject(new Error('the store is down')) : memory.save(...state),
  };
  let costs: CostReport | undefined;
  const compressed: CompressedEvent[] = [];
  for (let at = 0; at < 20; at += 1) history.push(...turn(at));
  const serve: Conversation['serve'] = async (todos = [], strategy = 'middle-out') => {
    await using compactor = createCompactor({
      offload: 'inline',
      tokenizer: 'estimate',
      contextLimit: 20_000,
      settings: { 'compression.strategy': strategy },
      summarizer: workers.summarizer,
      store,
    });
    const session = await compactor.createSession({
      sessionId,
      edits: 'every-turn',
      history: structuredClone(history),
      activeTodos: () => todos,
    });
    session.on('compressed', (event) => {
      if (event.outcome !== 'held') compressed.push(event);
    });
    for (const promptId of ['p', 'again']) await session.ensureCompressionBeforeSend(promptId);
    const sent = session.history.getRawHistory();
    expect(validate([...sent, ...historyOf('h:on')], 'anthropic')).toEqual([]);
    for (let at = 0; at < 20; at += 1) await nextTurn();
    costs = session.costs();
    outage.isDown = false;
    return JSON.stringify(sent.map(({ blocks }) => blocks));
  };
  return { workers, history, serve, compressed, summaries: () => costs?.summaries, outage };
}

describe('a summary that is under way when its process ends', () => {
  it('lands in the next process that finds it ready, and is asked for once', async () => {
    const { workers, history, serve, compressed, summaries } = converse('one');
    await serve();
    expect(workers.reasons).toEqual(['The session was closed; another process may go on with it.']);
    history.push(...turn(20));
    const before = await serve();
    expect(before).toContain('done 10');
    workers.answer('the goal');
    history.push(...turn(21));
    // Todos that have changed meanwhile do not make it another question.
    const sent = await serve([{ id: 'a', content: 'a new one', status: 'pending' }]);
    expect(sent.includes('the goal')).toBe(true);
    expect(sent.includes('done 10')).toBe(false);
    for (const text of ['turn 20', 'turn 21', 'done 21']) expect(sent).toContain(text);
    expect(workers.requests).toHaveLength(1);
    expect(summaries()).toEqual({ landed: 1, thrownAway: 0 });
    expect(compressed).toMatchObject([{ isAhead: true, outcome: 'applied' }]);
    expect(await serve()).toBe(sent);
    expect(workers.requests).toHaveLength(1);
  });

  it('lands in the next process though only the last save has told of it', async () => {
    const { workers, history, serve, outage, summaries } = converse('one');
    outage.isDown = true;
    await serve();
    workers.answer('the goal');
    history.push(...turn(20));
    expect(await serve()).toContain('the goal');
    expect(workers.requests).toHaveLength(1);
    expect(summaries()).toEqual({ landed: 1, thrownAway: 0 });
  });

  it('is looked for once per process, and not asked for again meanwhile', async () => {
    const { workers, history, serve } = converse('one');
    await serve();
    const { length } = workers.looks;
    for (let at = 20; at < 23; at += 1) {
      history.push(...turn(at));
      await serve();
    }
    expect(workers.looks).toHaveLength(length + 3);
    expect(new Set(workers.looks)).toEqual(new Set(workers.requests.map(({ id }) => id)));
    expect(workers.requests).toHaveLength(1);
  });

  it('is not used for another branch, or for a conversation that only starts the same', async () => {
    for (const name of ['one', undefined]) {
      const { workers, history, serve } = converse(name);
      await serve();
      workers.answer('the goal');
      if (name === 'one') history[41] = { ...history[41]!, blocks: turn(99)[1]!.blocks };
      history.push(...turn(20));
      expect((await serve()).includes('the goal')).toBe(false);
      const why = name === 'one' ? /another process may/ : /^The session was closed\.$/;
      expect(workers.reasons[0]).toMatch(why);
    }
  });

  it('is ignored if its answer is unusable', async () => {
    for (const of of [{ finishReason: 'length' }, { text: ' ' }, { text: 'no frame' }] as const) {
      const { workers, serve } = converse('one');
      const sent = await serve();
      workers.answer('the goal', of);
      expect(await serve()).toBe(sent);
    }
  });

  it('is ignored if the next process compresses without a model', async () => {
    const { workers, history, serve, compressed } = converse('one');
    for (let at = 0; at < 10; at += 1) history.push(...read(at));
    history.splice(0, 40);
    await serve();
    expect(workers.requests).toHaveLength(1);
    workers.answer('the goal');
    await serve([], 'high-density');
    expect(compressed.filter(({ isAhead }) => isAhead)).toEqual([]);
  });

  it('fails no turn when looking for it fails', async () => {
    const { workers, serve } = converse('one');
    const sent = await serve();
    workers.answer('the goal');
    const broken = [{ id: 1 }] as unknown as readonly Todo[];
    expect(await serve(broken)).toBe(sent);
    workers.answers.get = () => {
      throw new Error('gone');
    };
    expect(await serve()).toBe(sent);
  });
});
