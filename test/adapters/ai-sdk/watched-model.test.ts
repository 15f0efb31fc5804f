import { describe, expect, it, vi } from 'vitest';
import { compactionMiddleware } from '../../../src/adapters/ai-sdk/compaction-middleware.js';
import { watchedModel } from '../../../src/adapters/ai-sdk/watched-model.js';
import { openCompactor } from '../../support/open-compactor.js';

const TOO_LONG = new Error('prompt is too long: 208310 tokens > 200000 maximum');
const CALL = { prompt: [{ role: 'user' as const, content: [{ type: 'text', text: 'Go.' }] }] };

/** The expected report, and the usage that it comes from in the form of each specification. */
const REPORTED = { reportedInputTokens: 90, reportedCacheReadTokens: 60 };
const USAGE = { inputTokens: { total: 90, cacheRead: 60, cacheWrite: 30 } };
const PLAIN_USAGE = { inputTokens: 90, cachedInputTokens: 60 };

/** Its fields are private, so that its methods work on no other object. */
class PrivateModel {
  readonly #answers: readonly unknown[];
  readonly specificationVersion: string = 'v4';
  readonly supportedUrls: object = { 'image/*': [/^https:/] };
  readonly generateId = (): string => 'a';
  #calls = 0;
  #modelId = 'm';

  constructor(...answers: readonly unknown[]) {
    this.#answers = answers;
  }

  get provider(): string {
    return `p${this.#calls}`;
  }

  get modelId(): string {
    return this.#modelId;
  }

  set modelId(id: string) {
    this.#modelId = id;
  }

  count(): number {
    return this.#calls;
  }

  async doGenerate(_call: object): Promise<unknown> {
    const answer = this.#answers[this.#calls];
    this.#calls += 1;
    if (answer instanceof Error) throw answer;
    return answer;
  }

  async doStream(call: object): Promise<unknown> {
    return this.doGenerate(call);
  }
}

function watch<Model>(model: Model, by = openCompactor(), marked = (call: object): object => call) {
  const reports: object[] = [];
  const watched = watchedModel(model, by, {
    reportUsage: (usage) => reports.push(usage),
    marked,
  });
  return { watched, reports };
}

function streamOf(parts: readonly object[]): ReadableStream<object> {
  return ReadableStream.from<object>(parts);
}

async function partsOf(answer: unknown): Promise<object[]> {
  const parts: object[] = [];
  for await (const part of (answer as { stream: ReadableStream<object> }).stream) parts.push(part);
  return parts;
}

describe('watchedModel', () => {
  it.each([
    ['v2', PLAIN_USAGE, { ...REPORTED }],
    ['v3', USAGE, REPORTED],
    ['v4', USAGE, REPORTED],
  ])(
    'reports the usage of an answer by the specification %s, and returns the answer',
    async (_, usage, reported) => {
      const answer = { content: [], usage };
      const { watched, reports } = watch(new PrivateModel(answer));
      expect(await watched?.doGenerate(CALL)).toBe(answer);
      expect(reports).toEqual([reported]);
    },
  );

  it('reports the usage at the end of a stream, and passes on its parts', async () => {
    const parts = [
      { type: 'text-delta', delta: 'Yes' },
      { type: 'finish', usage: USAGE },
    ];
    const { watched, reports } = watch(new PrivateModel({ stream: streamOf(parts), request: 1 }));
    const answer = await watched?.doStream(CALL);
    expect(answer).toMatchObject({ request: 1 });
    expect(reports).toEqual([]);
    expect(await partsOf(answer)).toEqual(parts);
    expect(reports).toEqual([REPORTED]);
  });

  it('cancels the stream of the model when its own is cancelled', async () => {
    const cancelled = vi.fn();
    const stream = new ReadableStream({ cancel: cancelled });
    const { watched } = watch(new PrivateModel({ stream }));
    const answer = (await watched?.doStream(CALL)) as { stream: ReadableStream };
    await answer.stream.cancel('enough');
    expect(cancelled).toHaveBeenCalledWith('enough');
  });

  it.each(['doGenerate', 'doStream'] as const)(
    'reports that %s was refused as too long, and throws the same error',
    async (kind) => {
      const other = new Error('no such model');
      const { watched, reports } = watch(new PrivateModel(TOO_LONG, other));
      await expect(watched?.[kind](CALL)).rejects.toBe(TOO_LONG);
      await expect(watched?.[kind](CALL)).rejects.toBe(other);
      expect(reports).toEqual([{ refusal: TOO_LONG }]);
    },
  );

  it.each([
    ['as it is given', (call: object) => call],
    ['with a mark', () => structuredClone(CALL)],
  ])(
    'reports no usage of a prompt that compactionMiddleware made, which reports it: %s',
    async (_, marked) => {
      const compactor = openCompactor();
      const { transformParams } = compactionMiddleware(compactor);
      const answers = [{ content: [], usage: USAGE }, TOO_LONG];
      const inner = new PrivateModel(...answers);
      const ask = async (params: typeof CALL): Promise<unknown> =>
        inner.doGenerate(await transformParams({ params: params as never, model: inner }));
      const { watched, reports } = watch({ doGenerate: ask, doStream: ask }, compactor, marked);
      await watched?.doGenerate(structuredClone(CALL));
      await expect(watched?.doStream(structuredClone(CALL))).rejects.toBe(TOO_LONG);
      expect(reports).toEqual([{}, {}]);
    },
  );

  it('returns an answer that cannot be read as it is', async () => {
    const answer = { get usage(): never { throw new Error('unreadable'); } }; // prettier-ignore
    const { watched, reports } = watch(new PrivateModel(answer));
    expect(await watched?.doGenerate(CALL)).toBe(answer);
    expect(reports).toEqual([]);
  });

  it('has the class, fields, methods, getters and setters of the model', async () => {
    const model = new PrivateModel({});
    const { watched } = watch(model);
    expect(watched).toBeInstanceOf(PrivateModel);
    expect(watched?.constructor).toBe(PrivateModel);
    expect(watched?.supportedUrls).toBe(model.supportedUrls);
    expect(Object.entries(watched ?? {})).toEqual(Object.entries(model));
    await watched?.doGenerate(CALL);
    expect([watched?.count(), watched?.provider]).toEqual([1, 'p1']);
    Object.assign(watched ?? {}, { modelId: 'other' });
    expect([watched?.modelId, model.modelId]).toEqual(['other', 'other']);
  });

  it.each([
    ['a name', 'openai/gpt-5.5'],
    ['a function', async () => new PrivateModel()],
    ['no model', undefined],
    ['a model of another kind', { provider: 'p', modelId: 'm', doEmbed: () => undefined }],
    ['a frozen one', Object.freeze({ doGenerate: () => undefined, doStream: () => undefined })],
    ['one that throws when it is read', { get doGenerate(): never { throw new Error('no'); } }], // prettier-ignore
  ])('is undefined for %s', (_, model) => {
    expect(watch<unknown>(model).watched).toBeUndefined();
  });

  it('replaces the watcher of the same compactor, but not that of another', async () => {
    const [compactor, answer] = [openCompactor(), { usage: USAGE }];
    const first = watch(new PrivateModel(answer, answer), compactor);
    const next = watch(first.watched, compactor);
    await next.watched?.doGenerate(CALL);
    expect([first.reports, next.reports]).toEqual([[], [REPORTED]]);
    const others = watch(next.watched);
    await others.watched?.doGenerate(CALL);
    expect([first.reports, next.reports.length, others.reports]).toEqual([[], 2, [REPORTED]]);
  });
});
