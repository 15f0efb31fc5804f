// Hostile values in adapter options, in per-call options, and in what SDK loops pass to middleware. Each would have failed a
// call with an engine TypeError, or been accepted and caused damage much later.

import { afterAll, describe, expect, it } from 'vitest';
import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { compactionMiddleware as aiSdkMiddleware, prepareStep } from '../../src/ai-sdk.js';
import { compactionMiddleware as anthropicMiddleware } from '../../src/anthropic.js';
import { createCompactor } from '../../src/index.js';
import { compactionMiddleware as langchainMiddleware, contextEdit } from '../../src/langchain.js';
import { callModelInputFilter } from '../../src/openai.js';
import { HOSTILE_VALUES, hostilePlacements } from '../support/hostile-values.js';
import type { HostileValue } from '../support/hostile-values.js';
import { runs } from '../support/scale.js';
import { ADAPTER_SAMPLES } from './adapter-samples.js';
import { isMeant, spread, describeError, watchForChanges } from './refusals.js';

const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
afterAll(() => compactor.close());

const rejections: unknown[] = [];
const note = (reason: unknown): void => {
  rejections.push(reason);
};
process.on('unhandledRejection', note);
afterAll(() => {
  process.off('unhandledRejection', note);
  expect(rejections).toEqual([]);
});

/** Errors from the caller's own code and abort reasons must reach the caller unchanged. */
function isOfCorpus(error: unknown): boolean {
  return error instanceof Error && /(?:of|by) the corpus$|^trap /.test(error.message);
}

/** Passes a value and asserts a valid outcome. Returns whether it was refused. */
async function attack(
  name: string,
  value: unknown,
  take: (value: unknown) => unknown,
): Promise<boolean> {
  const assertUnchanged = watchForChanges(value);
  let isRefused = false;
  try {
    await take(value);
  } catch (error) {
    expect(isMeant(error) || isOfCorpus(error), `${name}: ${describeError(error)}`).toBe(true);
    isRefused = true;
  }
  assertUnchanged();
  return isRefused;
}

/** Not revoked proxies: even `Array.isArray` throws on them. */
const VALUES = HOSTILE_VALUES.filter(({ name }) => !name.includes('revoked'));

const placed = (make: () => unknown, full: number, least: number): readonly HostileValue[] =>
  spread(hostilePlacements(make, VALUES), runs(full, least));

const compactSample = ADAPTER_SAMPLES[0]?.open ?? ((): never => expect.fail('no adapter'));
const talk = (): unknown[] => ADAPTER_SAMPLES[0]?.talk() ?? [];

describe('the options of a call', () => {
  const call = (): object => ({
    signal: new AbortController().signal,
    conversationId: 'a',
    modelName: 'm',
    reportedInputTokens: 10,
    reasoning: 'keep',
  });

  it.each(ADAPTER_SAMPLES)(
    'are accepted or refused by $name, and change nothing',
    async (sample) => {
      const compact = sample.open(compactor, { edits: 'every-turn', onError: 'throw' });
      const expected = await compact(sample.talk());
      for (const { name, make } of placed(call, 900, 30)) {
        await attack(name, make(), (value) => compact(sample.talk(), value as never));
        expect(await compact(sample.talk()), name).toEqual(expected);
      }
    },
  );

  it.each([
    [{ conversationId: 5 }, TypeError, 'conversationId to be a string, got the number 5'],
    [{ modelName: {} }, TypeError, 'modelName to be a string, got an object'],
    [{ reportedInputTokens: NaN }, RangeError, 'reportedInputTokens of at least 0, got NaN'],
    [
      { reportedInputTokens: '1' },
      TypeError,
      'reportedInputTokens to be a number, got the string "1"',
    ],
    [{ signal: {} }, TypeError, 'signal to be an AbortSignal, got an object'],
    [{ reasoning: 'drop' }, RangeError, 'reasoning to be one of'],
    [{ modelname: 'm' }, RangeError, `no option "modelname" (did you mean 'modelName'?)`],
    ['gpt', TypeError, 'an object of what is known about a call, got a string'],
  ])('are refused with what is wrong: %j', async (given, kind, message) => {
    const compact = compactSample(compactor, { onError: 'throw' });
    const compacting = compact(talk(), given as never);
    await expect(compacting).rejects.toThrow(kind);
    await expect(compacting).rejects.toThrow(message);
  });

  it('may be null, and so may each of them', async () => {
    const compact = compactSample(compactor);
    const nothing = { signal: null, conversationId: null, reasoning: null };
    expect(await compact(talk(), null as never)).toEqual(await compact(talk()));
    expect(await compact(talk(), nothing as never)).toEqual(await compact(talk()));
  });
});

describe('options of adapters', () => {
  const options = (): object => ({
    edits: 'every-turn',
    onError: 'throw',
    minReclaimTokens: 1,
    cacheTtlMs: 1,
    reasoning: 'keep',
    overheadTokens: 1,
    maxConversations: 3,
  });

  it.each(ADAPTER_SAMPLES)('of $name are accepted or refused', async (sample) => {
    for (const { name, make } of placed(options, 1_500, 30)) {
      await attack(name, make(), (value) => {
        const compact = sample.open(compactor, value as never);
        return compact(sample.talk());
      });
    }
  });

  it.each(ADAPTER_SAMPLES)('of $name need a compactor', ({ open }) => {
    for (const wrong of [undefined, null, 5, {}, 'compactor']) {
      expect(() => open(wrong as never)).toThrow(
        'Expected a compactor, as createCompactor makes it',
      );
    }
    expect(() => open(compactor, null as never)).toThrow('an object of adapter options, got null');
  });
});

describe('what loops pass to middleware', () => {
  const play = async (make: () => unknown, take: (value: unknown) => unknown): Promise<void> => {
    let refused = 0;
    const attacks = placed(make, 800, 60);
    for (const { name, make: makeOne } of attacks) {
      if (await attack(name, makeOne(), take)) refused += 1;
    }
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(attacks.length);
  };

  it('is accepted or refused by a prepareStep', async () => {
    const prepare = prepareStep(compactor, { edits: 'every-turn', onError: 'throw' });
    const make = (): object => ({
      model: { provider: 'anthropic', modelId: 'm' },
      steps: [{ usage: { inputTokens: 10 } }],
      messages: [{ role: 'user', content: 'x' }],
    });
    await play(make, (step) => prepare(step as never));
    expect(() => prepareStep(compactor, null as never)).toThrow('adapter options, got null');
  });

  it('is accepted or refused by the middleware of the AI SDK', async () => {
    const { transformParams } = aiSdkMiddleware(compactor);
    const make = (): object => ({
      model: { provider: 'anthropic', modelId: 'm' },
      params: { prompt: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }] },
    });
    await play(make, (call) => transformParams(call as never));
  });

  it('is accepted or refused by the middleware of LangChain', async () => {
    const { wrapModelCall } = langchainMiddleware(compactor);
    const make = (): object => ({
      model: { model: 'm', getName: undefined },
      runtime: { signal: undefined },
      messages: [new HumanMessage('x'), new AIMessage('y')],
    });
    await play(make, (request) => wrapModelCall?.(request as never, (() => 'done') as never));
  });

  it('is accepted or refused by a context edit of LangChain', async () => {
    const { apply } = contextEdit(compactor);
    const make = (): object => ({
      model: { model: 'm' },
      messages: [new HumanMessage('x'), new AIMessage('y')],
    });
    // This function edits the list, so it gets a fresh one. Immutable lists are not valid input for it.
    const attacks = placed(make, 800, 60).filter(
      ({ name }) => !/at (?:messages|the root)$/.test(name),
    );
    for (const { name, make: makeOne } of attacks) {
      const { messages, model } = makeOne() as { messages: unknown[]; model: unknown };
      await attack(name, messages[0], () => apply({ messages: [...messages], model } as never));
    }
    for (const wrong of [null, {}, { messages: 'x' }, { messages: null }]) {
      await expect(apply(wrong as never)).rejects.toThrow('Expected');
    }
  });

  it('is accepted or refused by a filter of the Agents SDK', async () => {
    const filter = callModelInputFilter(compactor, { onError: 'throw' });
    const make = (): object => ({
      agent: { model: 'm' },
      modelData: { input: [{ role: 'user', content: 'x' }] },
    });
    await play(make, (args) => filter(args as never));
  });

  it('leaves every request alone that is not of the Messages API', async () => {
    const middleware = anthropicMiddleware(compactor);
    const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] });
    const make = (): object => ({ method: 'POST', url: 'https://a.example/v1/messages', body });
    const next = (): Promise<Response> => Promise.resolve(Response.json({ usage: {} }));
    const context = { options: undefined, parse: (response: Response) => response.json() };
    const requests = [
      ...placed(make, 900, 100).filter(({ name }) => !name.endsWith('at the root')),
      ...placed(
        () => ({ model: 'm', thinking: { type: 'enabled' }, messages: [{}] }),
        900,
        100,
      ).map(({ name, make: makeBody }) => ({
        name,
        make: () => ({ ...make(), body: tryStringify(makeBody()) }),
      })),
    ];
    for (const { name, make: makeRequest } of requests) {
      await attack(name, makeRequest(), (request) =>
        middleware(request as never, next, context as never),
      );
    }
  });
});

function tryStringify(value: unknown): unknown {
  try {
    return JSON.stringify(value);
  } catch {
    return '{';
  }
}
