// A conversation whose provider has compacted it, and that goes on with a model of another provider, which cannot read that.

import { setImmediate } from 'node:timers/promises';

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { messageCompactor as sdkCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as anthropicCompactor } from '../../src/adapters/anthropic/message-compactor.js';
import type { MessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import { messageCompactor as langchainCompactor } from '../../src/adapters/langchain/message-compactor.js';
import { inputCompactor } from '../../src/adapters/openai/input-compactor.js';
import type { AdapterOptions, CompactCall } from '../../src/adapters/request/adapter-options.js';
import type { Compactor } from '../../src/main/compactor.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import { openCompactor } from '../support/open-compactor.js';

const [GPT, CLAUDE, GEMINI, OTHER] = [
  'gpt-5.5',
  'claude-opus-4-8',
  'gemini-3.1-pro',
  'openai/gpt-oss-120b',
];

const user = (content: string) => ({ role: 'user', content });
const assistant = (content: unknown) => ({ role: 'assistant', content });
const text = { type: 'text', text: 'fine' };
const sealed = {
  type: 'custom',
  kind: 'openai.compaction',
  providerOptions: { openai: { itemId: 'c' } },
};
const shown = { ...text, text: 'what was', providerOptions: { anthropic: { type: 'compaction' } } };
const block = { type: 'compaction', content: 'what was' };
const item = { type: 'compaction', encrypted_content: 'sealed' };

type Make = (compactor: Compactor, options: AdapterOptions) => unknown;

/** Messages in which two are left for whoever reads the compaction, and all for others. */
const TALKS: readonly (readonly [string, string, Make, readonly unknown[]])[] = [
  ['the AI SDK', GPT, sdkCompactor, [user('one'), assistant('done'), user('two'), assistant([sealed, text]), user('on')]],
  ['the AI SDK', CLAUDE, sdkCompactor, [user('one'), assistant('done'), user('two'), assistant([shown, text]), user('on')]],
  ['Anthropic', CLAUDE, anthropicCompactor, [user('one'), assistant('done'), user('two'), assistant([block, text]), user('on')]],
  ['Responses', GPT, inputCompactor, [user('one'), assistant('done'), user('two'), item, user('on')]],
  ['LangChain', GPT, langchainCompactor, [
    new HumanMessage('one'), new AIMessage('done'), new HumanMessage('two'), new AIMessage({ content: [item, text] }), new HumanMessage('on'),
  ]],
  ['LangChain', CLAUDE, langchainCompactor, [
    new HumanMessage('one'), new AIMessage('done'), new HumanMessage('two'), new AIMessage({ content: [block, text] }), new HumanMessage('on'),
  ]],
]; // prettier-ignore

describe.each(TALKS)('messages of %s that %s has compacted', (_, maker, make, all) => {
  const others = [GPT, CLAUDE, GEMINI, OTHER].filter((model) => model !== maker);
  const compactorOf = (store = memoryStore()) =>
    make(openCompactor({ preset: 'specification', store }), {
      onError: 'throw',
    }) as MessageCompactor<unknown>;
  const calls: readonly CompactCall[] = [{}, { conversationId: 'c' }, { reasoning: 'keep' }];

  it.each(calls)(
    'are sent whole to another provider, and back, in a call with %j',
    async (call) => {
      const compact = compactorOf();
      for (const other of others) {
        expect(await compact(all, { ...call, modelName: maker })).toEqual(all.slice(3));
        expect(await compact(all, { ...call, modelName: other })).toEqual(all);
      }
      expect(await compact(all, { ...call, modelName: maker })).toEqual(all.slice(3));
      // Its other models can read it.
      const sibling = maker === GPT ? 'openai/o4-mini' : 'claude-fable-5-1';
      expect(await compact(all, { ...call, modelName: sibling })).toEqual(all.slice(3));
    },
  );

  it('are sent whole in another process, and when the caller goes on with what was returned', async () => {
    const store = memoryStore();
    const call = { conversationId: 'c' };
    for (const other of others) {
      const sent = await compactorOf(store)(all, { ...call, modelName: maker });
      expect(sent).toEqual(all.slice(3));
      const there = compactorOf(store);
      expect(await there(all, { ...call, modelName: other })).toEqual(all);
      expect(await there(all, { ...call, modelName: maker })).toEqual(all.slice(3));
      const on = [...all.slice(3), ...all.slice(1, 3)];
      expect(await there(on, { ...call, modelName: GEMINI })).toEqual([...all, ...all.slice(1, 3)]);
    }
  });
});

describe('a compaction on request', () => {
  /** Opens a conversation in a small window; GPT and OTHER have one. */
  function openTalk(ahead: number) {
    const store = memoryStore();
    const made = { ...item, id: 'cmp_1' };
    const all: unknown[] = [];
    let asked = 0;
    const compactByProvider = () => {
      asked += 1;
      const items = [{ kind: 'compaction', data: made, tokens: 5 }];
      return Promise.resolve({ items, keepsReasoning: true });
    };
    const restart = () =>
      inputCompactor(
        openCompactor({
          preset: 'specification',
          contextLimit: (model) => (model === GPT || model === OTHER ? 6_000 : 600_000),
          settings: { 'compression.strategy': 'provider', 'compression.ahead': ahead },
          store,
        }),
        { onError: 'throw' },
      ) as MessageCompactor<unknown>;
    let compact = restart();
    return {
      ...{ made, all, asked: () => asked, restart: () => void (compact = restart()) },
      say: async (modelName: string | undefined) => {
        all.push(user(`${all.length} ${'lorem ipsum dolor '.repeat(100)}`));
        const call = { conversationId: 'c', modelName };
        const sent = await compact([...all], {
          ...call,
          ...(modelName === GPT && { compactByProvider }),
        });
        await setImmediate();
        return sent;
      },
    };
  }

  it('is for the models of its provider, also in another process', async () => {
    const { made, all, restart, say } = openTalk(1);
    for (const [other, isRestarted] of [
      [CLAUDE, false],
      [GEMINI, true],
    ]) {
      while (!(await say(GPT)).includes(made)) all.push(assistant('done'));
      if (isRestarted) restart();
      expect(await say(other as string)).toEqual(all);
    }
  });

  it('does not land for a model of another provider, if it was made in the background', async () => {
    const { made, asked, say } = openTalk(0.5);
    while (asked() === 0) expect(await say(GPT)).not.toContain(made);
    for (let turn = 0; turn < 9; turn += 1) expect(await say(OTHER)).not.toContain(made);
  });
});
