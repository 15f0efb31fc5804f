// A compaction by the provider, in a conversation that continues in another process.

import { AIMessage, HumanMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import type { AdapterOptions, CompactCall } from '../../../src/adapters/request/adapter-options.js';
import { messageCompactor as sdkCompactor } from '../../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as anthropicCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import { messageCompactor as langchainCompactor } from '../../../src/adapters/langchain/message-compactor.js';
import { inputCompactor } from '../../../src/adapters/openai/input-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { openCompaction } from '../../support/compaction-by-model.js';

type Send = (messages: never, call: CompactCall) => Promise<readonly unknown[]>;
type Open = (compactor: Compactor, options: AdapterOptions) => Send;

const LONG = 'lorem ipsum dolor '.repeat(60);
const plain = (at: number): readonly unknown[] => [
  { role: 'user', content: `Never skip part ${at}. ${LONG}` },
  { role: 'assistant', content: `done ${at}` },
];
const classes = (at: number): readonly unknown[] => [
  new HumanMessage(`Never skip part ${at}. ${LONG}`),
  new AIMessage(`done ${at}`),
];

const item = { type: 'compaction', id: 'cmp_1', encrypted_content: 'sealed', created_by: 'them' };
const block = { type: 'compaction', content: 'what was', signature: 's', encrypted_content: 'b64' };
const providerOptions = { openai: { type: 'compaction', itemId: 'c', encryptedContent: 'sealed' } };
const part = { type: 'custom', kind: 'openai.compaction', providerOptions };

const SDKS: readonly (readonly [string, Open, (at: number) => readonly unknown[], unknown])[] = [
  ['the OpenAI SDK', inputCompactor, plain, item],
  ['the Anthropic SDK', anthropicCompactor, plain, block],
  ['the AI SDK', sdkCompactor, plain, { role: 'assistant', content: [part] }],
  ['LangChain', langchainCompactor, classes, item],
];

describe('a compaction by the provider', () => {
  const WAYS = SDKS.flatMap(([name, ...sdk]) => [
    [name, 'by conversation id', 'one', ...sdk] as const,
    [name, 'by first messages', undefined, ...sdk] as const,
  ]);

  it.each(WAYS)(
    'is sent byte for byte after a restart, with %s, found %s',
    async (_, __, conversationId, open, turn, data) => {
      const store = memoryStore();
      let asked = 0;
      const compactByProvider: CompactCall['compactByProvider'] = () => {
        asked += 1;
        const items = [{ kind: 'compaction', data, tokens: 20 }];
        return Promise.resolve({ items, keepsReasoning: true });
      };
      const start = () => {
        const settings = { 'compression.strategy': 'provider', 'compression.ahead': 1 } as const;
        const how = { offload: 'inline', tokenizer: 'estimate', contextLimit: 6_000 } as const;
        const compactor = createCompactor({ ...how, settings, store });
        return { compactor, send: open(compactor, { onError: 'throw' }) };
      };
      const said = (sent: readonly unknown[]): string => JSON.stringify(sent);
      const call = { ...(conversationId !== undefined && { conversationId }), compactByProvider };
      const messages: unknown[] = [];
      const first = start();
      let before: readonly unknown[] = [];
      for (let at = 0; asked === 0 && at < 100; at += 1) {
        messages.push(...turn(at));
        before = await first.send(messages as never, call);
      }
      await first.compactor.close();
      expect(said(before)).toContain(JSON.stringify(data));
      const second = start();
      for (let at = 100; at < 102; at += 1) {
        messages.push(...turn(at));
        const after = await second.send(messages as never, call);
        expect(said(after.slice(0, 1))).toBe(said(before.slice(0, 1)));
        expect(after.length).toBeLessThan(messages.length);
      }
      await second.compactor.close();
      expect(asked).toBe(1);
    },
  );

  it.each<[string, () => Promise<never>]>([
    ['rejects', () => Promise.reject(new TypeError(`no model for ${LONG}`))],
    [
      'throws',
      () => {
        throw new TypeError(`no model for ${LONG}`);
      },
    ],
  ])(
    'is reported as failed, without content of the conversation, if compactByProvider %s',
    async (_, compactByProvider) => {
      const { compactor, options, events } = openCompaction();
      const send = inputCompactor(compactor, options);
      const messages: unknown[] = [];
      for (let at = 0; events.length === 0 && at < 100; at += 1) {
        messages.push(...plain(at));
        await send(messages as never, { conversationId: 'one', compactByProvider });
      }
      const { error } = events[0]?.fallbackFrom ?? {};
      expect(error).toMatchObject({
        code: 'PROVIDER_COMPACTION_FAILED',
        message: expect.stringMatching(/the request for it failed \(TypeError\)/) as string,
      });
      expect(error?.message).not.toContain('lorem');
    },
  );
});
