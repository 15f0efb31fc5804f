// A caller that passes messages of another SDK is warned once; other callers are not.

import { afterEach, describe, expect, it } from 'vitest';
import { chatCompactor } from '../../../src/openai.js';
import { createCompactor } from '../../../src/index.js';
import type { Compactor } from '../../../src/index.js';
import { sdkOfMessage } from '../../../src/adapters/format/sdk-of-message.js';
import { ADAPTER_SAMPLES } from '../../attacks/adapter-samples.js';

const open: Compactor[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((compactor) => compactor.close()));
});

/** A compactor, and its warnings about messages of another SDK. */
function listening(): { compactor: Compactor; others: string[] } {
  const others: string[] = [];
  const none = (): undefined => undefined;
  const warn = (message: string): void => {
    if (message.startsWith('these are messages of')) others.push(message);
  };
  const compactor = createCompactor({
    offload: 'inline',
    logger: { debug: none, error: none, warn },
  });
  open.push(compactor);
  return { compactor, others };
}

/** By name of a sample, the compactor that a warning about its messages recommends. */
const COMPACTORS: Readonly<Record<string, string>> = {
  'ai-sdk': 'ctxfold/ai-sdk',
  anthropic: 'ctxfold/anthropic',
  'openai chat': 'chatCompactor of ctxfold/openai',
  'openai responses': 'inputCompactor of ctxfold/openai',
  'openai agents': 'callModelInputFilter of ctxfold/openai',
  google: 'ctxfold/google',
  langchain: 'ctxfold/langchain',
};

const PAIRS = ADAPTER_SAMPLES.flatMap((own) =>
  ADAPTER_SAMPLES.filter((other) => other !== own).map((other) => [own, other] as const),
);

describe('messages of another SDK', () => {
  it.each(PAIRS.map(([own, other]) => [own.name, other.name, own, other] as const))(
    'are returned unchanged by a compactor of %s if they are of %s, with one warning',
    async (_, __, own, other) => {
      const { compactor, others } = listening();
      const talk = other.talk();
      expect(await own.open(compactor)(talk)).toEqual(talk);
      expect(others).toEqual([expect.stringContaining(`use ${COMPACTORS[other.name]}`)]);
      // Later turns, and adapters that are made for each run, do not warn again.
      await own.open(compactor)([...talk, ...other.talk().slice(1)]);
      await own.open(compactor)(other.talk());
      expect(others).toHaveLength(1);
    },
  );

  it('are recognized once they have calls', async () => {
    const { compactor, others } = listening();
    const compact = chatCompactor<object>(compactor);
    const asked = { role: 'user', content: 'Read a.ts.' };
    await compact([asked]);
    expect(others).toHaveLength(0);
    const called = { type: 'tool_use', id: 'c', name: 'read_file', input: {} };
    await compact([asked, { role: 'assistant', content: [called] }]);
    expect(others).toEqual([expect.stringContaining('use ctxfold/anthropic')]);
  });

  it('include UI messages', async () => {
    const { compactor, others } = listening();
    const part = { type: 'tool-read_file', toolCallId: 'c', state: 'output-available' };
    const messages = [{ id: 'm', role: 'assistant', parts: [part] }];
    for (const { open: opened } of ADAPTER_SAMPLES) await opened(compactor)(messages);
    expect(others).not.toHaveLength(0);
    for (const warning of others) expect(warning).toContain('after convertToModelMessages');
  });
});

describe('messages of the right SDK', () => {
  it.each(ADAPTER_SAMPLES)('cause no warning in a compactor of $name', async (sample) => {
    const { compactor, others } = listening();
    const more = sample.more().map((message) => sample.made?.(message) ?? message);
    const compact = sample.open(compactor);
    await compact(more);
    await compact([...sample.talk(), ...more]);
    for (const message of [...sample.talk(), ...more]) await compact([message]);
    expect(others).toEqual([]);
  });

  it('may also have parts of another SDK beside their own calls', async () => {
    const { compactor, others } = listening();
    const content = [{ type: 'tool_use', id: 'c', name: 'look', input: {} }];
    const called = { id: 'c', type: 'function', function: { name: 'look', arguments: '{}' } };
    await chatCompactor<object>(compactor)([
      { role: 'user', content: 'Look.' },
      { role: 'assistant', content, tool_calls: [called] },
      { role: 'tool', tool_call_id: 'c', content: 'seen' },
    ]);
    expect(others).toEqual([]);
  });
});

describe('sdkOfMessage', () => {
  it('is undefined for a message without calls, and one that throws', () => {
    const throwing = new Proxy(
      {},
      {
        get: () => {
          throw new Error('mine');
        },
      },
    );
    const plain = [{ role: 'user', content: 'x' }, { type: 'message', role: 'user' }, 'x', null];
    for (const message of [...plain, throwing, { role: 'user', content: [null, 'x', throwing] }])
      expect(sdkOfMessage(message)).toBeUndefined();
  });

  it('are looked for without an iterator of the caller, which may never end', () => {
    let isIterated = false;
    const iterator = (): Iterator<unknown> => {
      isIterated = true;
      return [][Symbol.iterator]();
    };
    const call = { type: 'tool_use', id: 'c' };
    const content = Object.assign([call], { [Symbol.iterator]: iterator });
    expect(sdkOfMessage({ role: 'assistant', content })).toBe('anthropic');
    expect(isIterated).toBe(false);
    expect(sdkOfMessage({ content: new Array(2 ** 32 - 1), parts: [call] })).toBe('anthropic');
  });
});
