// Arguments of writes that are no longer needed, in the messages of each SDK: their texts are removed, and the calls stay valid.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { ModelMessage } from 'ai';
import { afterAll, describe, expect, it } from 'vitest';
import { messageCompactor as aiSdkCompactor } from '../../src/ai-sdk.js';

import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';

import { contentsCompactor } from '../../src/google.js';
import { createCompactor } from '../../src/index.js';
import type { Session } from '../../src/index.js';
import { contextEdit, messageCompactor as langchainCompactor } from '../../src/langchain.js';
import { DEFAULT_WORKING_SET } from '../../src/density.js';
import { chatCompactor, inputCompactor } from '../../src/openai.js';
import { API_TALKS } from '../support/api-talks.js';
import type { ApiTalk } from '../support/api-talks.js';

const compactor = createCompactor({ offload: 'inline' });
afterAll(() => compactor.close());

const OPTIONS = {
  edits: 'every-turn',
  density: { workingSet: { ...DEFAULT_WORKING_SET, paybackCalls: Infinity, freeTokens: 0 } },
} as const;
const REPLACED = 'const before = 1;\n'.repeat(20);
const LEFT_OUT = '[left out: what this edit has replaced]';
const EDIT = { file_path: '/w/a.ts', old_string: REPLACED, new_string: 'const after = 2;' };
const EDITED = { ...EDIT, old_string: LEFT_OUT };

describe('a call whose edit has replaced its text', () => {
  const COMPACTORS: Readonly<
    Record<ApiTalk['name'], (messages: never) => Promise<readonly object[]>>
  > = {
    anthropic: anthropicCompactor(compactor, OPTIONS),
    responses: inputCompactor(compactor, OPTIONS),
    chat: chatCompactor(compactor, OPTIONS),
    gemini: contentsCompactor(compactor, OPTIONS),
  };

  it.each(API_TALKS)('is sent without that text, in messages of $name', async (api) => {
    const talk = (input: object): readonly object[] => [
      api.user('Fix it.'),
      ...api.use('c1', 'Edit', input, 'done'),
      api.answer('Next.'),
      api.user('Go on.'),
    ];
    const given = talk(EDIT);
    const sent = await COMPACTORS[api.name](given as never);
    expect(sent).toEqual(talk(EDITED));
    expect(sent.filter((message) => !given.includes(message))).toHaveLength(1);
  });

  it('keeps the text if the edit failed', async () => {
    const given: MessageParam[] = [
      { role: 'user', content: 'Fix it.' },
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c1', name: 'Edit', input: EDIT }],
      },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'c1', content: 'no', is_error: true }],
      },
      { role: 'assistant', content: 'Next.' },
      { role: 'user', content: 'Go on.' },
    ];
    expect(await anthropicCompactor(compactor, OPTIONS)(given)).toEqual(given);
  });

  it('is sent without it by the AI SDK', async () => {
    const call = (input: unknown): ModelMessage => ({
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId: 'c1', toolName: 'Edit', input }],
    });
    const output = { type: 'text', value: 'done' } as const;
    const rest: ModelMessage[] = [
      {
        role: 'tool',
        content: [{ type: 'tool-result', toolCallId: 'c1', toolName: 'Edit', output }],
      },
      { role: 'assistant', content: 'Next.' },
      { role: 'user', content: 'Go on.' },
    ];
    const given = [{ role: 'user', content: 'Fix it.' } as const, call(EDIT), ...rest];
    const sent = await aiSdkCompactor(compactor, OPTIONS)(given);
    expect(sent).toEqual([given[0], call(EDITED), ...rest]);
  });

  it('is sent to Gemini as it is if it is signed', async () => {
    const functionCall = { id: 'c1', name: 'Edit', args: EDIT };
    const functionResponse = { id: 'c1', name: 'Edit', response: { output: 'done' } };
    const given = [
      { role: 'user', parts: [{ text: 'Fix it.' }] },
      { role: 'model', parts: [{ functionCall, thoughtSignature: 'signed' }] },
      { role: 'user', parts: [{ functionResponse }] },
      { role: 'model', parts: [{ text: 'Next.' }] },
      { role: 'user', parts: [{ text: 'Go on.' }] },
    ];
    expect(await contentsCompactor(compactor, OPTIONS)(given)).toEqual(given);
  });

  it("is sent and counted unchanged if it is a call of OpenAI's patch tool", async () => {
    const removed = REPLACED.split('\n').map((line) => `-${line}`);
    const diff = ['@@', ...removed, '+const after = 2;'].join('\n');
    const ids = { call_id: 'c1', status: 'completed' } as const;
    const operation = { type: 'update_file', path: '/w/a.ts', diff } as const;
    const given: Parameters<ReturnType<typeof inputCompactor>>[0] = [
      { role: 'user', content: 'Fix it.' },
      { type: 'apply_patch_call', ...ids, operation },
      { type: 'apply_patch_call_output', ...ids, output: 'done' },
      { role: 'assistant', content: 'Next.' },
      { role: 'user', content: 'Go on.' },
    ];
    let session: Session | undefined;
    const onSession = (made: Session): void => void (session = made);
    const sent = await inputCompactor(compactor, { ...OPTIONS, onSession })(given);
    expect(sent).toEqual(given);
    const { sentTokens, uncompacted } = session!.costs();
    expect(sentTokens).toBe(uncompacted.sentTokens);
  });
});

describe('an agent that only writes', () => {
  it('saves most tokens of the files that it wrote earlier, by default', async () => {
    const compact = chatCompactor(compactor);
    const given: object[] = [{ role: 'user', content: 'Write the page again until it is good.' }];
    let sent: readonly unknown[] = given;
    for (let at = 0; at < 40; at += 1) {
      const content = `<p>version ${at}</p>\n`.repeat(400);
      const args = JSON.stringify({ path: '/w/page.html', content });
      const call = {
        id: `c${at}`,
        type: 'function',
        function: { name: 'write_file', arguments: args },
      };
      given.push(
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: `c${at}`, content: 'ok' },
      );
      sent = await compact(given as Parameters<typeof compact>[0], { conversationId: 'writes' });
    }
    expect(JSON.stringify(sent).length).toBeLessThan(JSON.stringify(given).length / 2);
  });
});

describe('a call of LangChain whose edit has replaced its text', () => {
  const talk = (args: Record<string, unknown>): BaseMessage[] => [
    new HumanMessage('Fix it.'),
    new AIMessage({
      content: [{ type: 'tool_use', id: 'c1', name: 'Edit', input: args }],
      tool_calls: [{ id: 'c1', name: 'Edit', args }],
    }),
    new ToolMessage({ tool_call_id: 'c1', name: 'Edit', content: 'done' }),
    new AIMessage('Next.'),
    new HumanMessage('Go on.'),
  ];

  it('is sent without that text in every place of the message, and counted so', async () => {
    let session: Session | undefined;
    const onSession = (of: Session): void => void (session = of);
    const compact = langchainCompactor(compactor, { ...OPTIONS, onSession });
    expect(await compact(talk(EDIT))).toEqual(talk(EDITED));
    await using other = createCompactor({ offload: 'inline' });
    let short: Session | undefined;
    await langchainCompactor(other, { onSession: (of) => void (short = of) })(talk(EDITED));
    expect(session!.contextUsage().tokens).toBe(short!.contextUsage().tokens);
    expect(session!.costs().sentTokens).toBe(short!.costs().sentTokens);
  });

  it('loses that text in the state of an agent as well, by one context edit', async () => {
    const sessions: Session[] = [];
    const onSession = (of: Session): void => void sessions.push(of);
    await using own = createCompactor({ offload: 'inline' });
    const edit = contextEdit(own, { ...OPTIONS, onSession });
    const messages = talk(EDIT);
    await edit.apply({ messages, countTokens: () => 0 });
    expect(messages).toEqual(talk(EDITED));
    const kept = [...messages];
    messages.push(new AIMessage('Done.'), new HumanMessage('Thanks.'));
    await edit.apply({ messages, countTokens: () => 0 });
    expect(messages.slice(0, -2).every((message, at) => message === kept[at])).toBe(true);
    expect(sessions).toHaveLength(1);
  });
});

describe('a call whose arguments cannot be changed', () => {
  const chat = (call: object, fields?: object): readonly object[] => [
    { role: 'user', content: 'Fix it.' },
    { role: 'assistant', content: null, tool_calls: [call], ...fields },
    { role: 'tool', tool_call_id: 'c1', content: 'done' },
    { role: 'assistant', content: 'Next.' },
    { role: 'user', content: 'Go on.' },
  ];
  const name = 'Edit';
  it.each<[string, (typeof chatCompactor)[], readonly object[]]>([
    [
      'one of LangChain that another place states otherwise',
      [langchainCompactor as never],
      [
        new HumanMessage('Fix it.'),
        new AIMessage({
          content: [{ type: 'tool_call', id: 'c1', name, args: {} }],
          tool_calls: [{ id: 'c1', name, args: EDIT }],
        }),
        new ToolMessage({ tool_call_id: 'c1', name, content: 'done' }),
        new AIMessage('Next.'),
        new HumanMessage('Go on.'),
      ],
    ],
    [
      'one that Gemini has signed',
      [chatCompactor],
      chat({
        ...{ id: 'c1', type: 'function', function: { name, arguments: JSON.stringify(EDIT) } },
        extra_content: { google: { thought_signature: 's' } },
      }),
    ],
    [
      'one that OpenRouter says is signed',
      [chatCompactor],
      chat(
        { id: 'c1', type: 'function', function: { name, arguments: JSON.stringify(EDIT) } },
        { reasoning_details: [{ type: 'reasoning.encrypted', id: 'c1', data: 's' }] },
      ),
    ],
  ])('is counted as it is sent: %s', async (_, [make], given) => {
    let session: Session | undefined;
    const onSession = (of: Session): void => void (session = of);
    const sent = await make!<object>(compactor, { ...OPTIONS, onSession })(given);
    expect(sent.every((message, at) => message === given[at])).toBe(true);
    const costs = session!.costs();
    expect(costs.sentTokens).toBe(costs.uncompacted.sentTokens);
  });
});
