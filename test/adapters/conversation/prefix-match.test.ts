// Which messages continue a conversation: only instructions at its start may change from call to call.

import { AIMessage, HumanMessage, SystemMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { messageCompactor as sdkCompactor } from '../../../src/adapters/ai-sdk/message-compactor.js';
import { messageCompactor as langchainCompactor } from '../../../src/adapters/langchain/message-compactor.js';
import type { MessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { chatMessageFormat } from '../../../src/adapters/openai/chat-message-format.js';
import { chatCompactor } from '../../../src/adapters/openai/chat-compactor.js';
import { inputCompactor } from '../../../src/adapters/openai/input-compactor.js';
import { isEditedWithin, matchPrefix } from '../../../src/adapters/conversation/prefix-match.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';

type Role = 'system' | 'user' | 'assistant';
type Make = (role: Role, text: string) => object;

const plain: Make = (role, content) => ({ role, content });

const CLASSES = { system: SystemMessage, user: HumanMessage, assistant: AIMessage };

const ADAPTERS = {
  'Chat Completions': [(compactor) => chatCompactor<object>(compactor), plain],
  Responses: [
    (compactor) => inputCompactor(compactor) as unknown as MessageCompactor<object>,
    (role, content) => plain(role === 'system' ? ('developer' as Role) : role, content),
  ],
  'AI SDK': [
    (compactor) => sdkCompactor(compactor) as unknown as MessageCompactor<object>,
    (role, text) =>
      role === 'system' ? plain(role, text) : { role, content: [{ type: 'text', text }] },
  ],
  LangChain: [
    (compactor) => langchainCompactor(compactor) as unknown as MessageCompactor<object>,
    (role, text) => new CLASSES[role](text),
  ],
} as const satisfies Record<
  string,
  readonly [create: (compactor: Compactor) => MessageCompactor<object>, make: Make]
>;

const LONG = 'lorem ipsum dolor '.repeat(60);

describe('instructions that change from call to call', () => {
  it.each(Object.entries(ADAPTERS))(
    'keep the conversation and its summary: %s',
    async (_, [create, make]) => {
      const summarizer = scriptedSummarizer(snapshot('on we go'));
      await using compactor = createCompactor({
        ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 4_000, summarizer },
        settings: {
          'compression.strategy': 'one-shot',
          'compression.threshold': 0.5,
          'compression.ahead': 1,
        },
      });
      const compact = create(compactor);
      const texts: [Role, string][] = [];
      for (let turn = 0; turn < 20; turn += 1) {
        texts.push(['user', `${turn} ${LONG}`]);
        const now = make('system', `It is ${turn} o'clock.`);
        const messages = [now, ...texts.map(([role, text]) => make(role, text))];
        expect((await compact(messages))[0]).toBe(now);
        texts.push(['assistant', `Done with ${turn}.`]);
      }
      expect(compact.report()).toHaveLength(1);
      expect(summarizer.requests.length).toBeGreaterThan(0);
      expect(summarizer.requests.length).toBeLessThan(6);
    },
  );

  it('are counted at their present length', async () => {
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 4_000 },
    });
    const compact = chatCompactor<object>(compactor);
    const texts = Array.from({ length: 6 }, (_, at) => [
      plain('user', `${at} ${LONG}`),
      plain('assistant', 'Done.'),
    ]).flat();
    expect(await compact([plain('system', 'short'), ...texts])).toHaveLength(13);
    const more = [...texts, plain('user', 'more')];
    const sent = await compact([plain('system', LONG.repeat(14)), ...more]);
    expect(sent.length).toBeLessThan(13);
  });
});

describe('matchPrefix', () => {
  const known = [plain('system', 'a'), plain('user', 'u'), plain('system', 'b')] as never[];
  const match = (...messages: object[]): readonly number[] | undefined =>
    matchPrefix(chatMessageFormat, messages as never[], known)?.varied;

  it('ignores changed instructions at the start', () => {
    expect(match(plain('system', 'x'), ...known.slice(1))).toEqual([0]);
    expect(match(plain('system', 'a'), ...known.slice(1))).toEqual([]);
  });

  it('returns undefined if anything else differs', () => {
    expect(match(...known.slice(0, 2), plain('system', 'x'))).toBeUndefined();
    expect(match(plain('user', 'a'), ...known.slice(1))).toBeUndefined();
    expect(match(plain('system', 'a'), plain('user', 'x'), ...known.slice(2))).toBeUndefined();
  });
});

describe('isEditedWithin', () => {
  const known = Array.from('sabcdef').map((text, at) => plain(at === 0 ? 'system' : 'user', text));
  const given = (texts: string): object[] =>
    Array.from(texts).map((text, at) =>
      plain(at === 0 ? 'system' : text === 'A' ? 'assistant' : 'user', text),
    );

  it.each([
    ['one message in the middle', 'sabXdef', true],
    ['one message in the middle, and messages at the end', 'sabXdefgh', true],
    ['one message in the middle, and instructions', 'SabXdef', true],
    ['half of the messages', 'saXXXef', false],
    ['the first message', 'sXbcdef', false],
    ['the last message', 'sabcdeX', false],
    ['every message from the middle on', 'sabXYZ', false],
    ['the last messages, and an answer in front of them', 'sabcdANNN', true],
    ['the last message, and another behind it', 'sabcdeXN', false],
    ['no message, but a missing end', 'sabcde', false],
  ])('for a list with changes in %s is %s', (_, texts, isEdited) => {
    expect(isEditedWithin(chatMessageFormat as never, given(texts), known)).toBe(isEdited);
  });

  it('is false for short lists with a common end', () => {
    const short = known.slice(0, 5);
    expect(isEditedWithin(chatMessageFormat as never, given('saXcd'), short)).toBe(false);
  });
});

describe('a host that clears old results itself', () => {
  it('keeps one session, and needs no summary in each call', async () => {
    const summarizer = scriptedSummarizer(snapshot('It was long.'));
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 3_800, summarizer },
      settings: { 'compression.strategy': 'one-shot' },
    });
    const compact = chatCompactor<object>(compactor, { onError: 'throw' });
    const results: string[] = [];
    for (let turn = 0; turn < 30; turn += 1) {
      results.push(`what ${turn} showed `.repeat(60));
      if (turn >= 9) results[turn - 9] = '-';
      const uses = results.flatMap((content, at) => {
        const calls = [
          { id: `c${at}`, type: 'function', function: { name: 'see', arguments: '{}' } },
        ];
        const asked = { role: 'assistant', content: `look at ${at}`, tool_calls: calls };
        return [asked, { role: 'tool', tool_call_id: `c${at}`, content }];
      });
      const given = [plain('user', 'go'), ...uses];
      const sent = JSON.stringify(await compact(given));
      expect(sent).not.toContain(`what ${turn - 9} showed`);
      expect(sent).toContain(JSON.stringify(given.at(-1)));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(compact.report()).toHaveLength(1);
    // The first summary is lost when the host next changes what it covers; the history fits without it.
    expect(summarizer.requests).toHaveLength(1);
  });
});
