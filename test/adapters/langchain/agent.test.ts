// Real agents of LangChain with a provider: the requests are valid and compacted, and the state keeps what it
// should, with a checkpointer in between.

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { contextEditingMiddleware, createAgent } from 'langchain';
import type { AgentMiddleware } from 'langchain';
import OpenAI from 'openai';
import { afterAll, describe, expect, it } from 'vitest';

import { fileTools } from '../../../examples/support/file-tools.js';
import { OpenAiChatModel } from '../../../examples/support/openai-chat-model.js';
import type {
  ScriptedProvider,
  ScriptedStep,
} from '../../../examples/support/scripted-provider.js';
import { makeTemporaryWorkspace } from '../../../examples/support/temporary-workspace.js';
import {
  compactionMiddleware,
  contextEdit,
} from '../../../src/adapters/langchain/compaction-middleware.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { startStrictProvider } from '../../support/strict-provider.js';

const compactor = createCompactor({ offload: 'inline', preset: 'specification' });
afterAll(() => compactor.close());

const PRICE = { file_path: 'src/price.js' };

/** Two tasks: the second one makes the read of the first task's result stale. */
const FIRST: readonly ScriptedStep[] = [
  { text: 'I read it.', toolCalls: [{ name: 'read_file', input: PRICE }] },
  {
    toolCalls: [
      {
        name: 'replace',
        input: { ...PRICE, old_string: 'quantity >', new_string: 'quantity >=' },
      },
    ],
  },
  { toolCalls: [{ name: 'read_file', input: PRICE }] },
  { text: 'Ten pieces get the discount now.' },
];
const SECOND: readonly ScriptedStep[] = [
  { toolCalls: [{ name: 'write_file', input: { ...PRICE, content: 'export {};' } }] },
  { text: 'It is empty.' },
];

interface Run {
  readonly provider: ScriptedProvider;
  readonly sessions: readonly Session[];
  /** The state after each task. */
  readonly states: readonly (readonly BaseMessage[])[];
}

type MakeMiddleware = (onSession: (session: Session) => void) => AgentMiddleware;

async function run(makeMiddleware: MakeMiddleware): Promise<Run> {
  const workspace = await makeTemporaryWorkspace();
  const provider = await startStrictProvider([...FIRST, ...SECOND]);
  const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, maxRetries: 0 });
  const sessions: Session[] = [];
  const agent = createAgent({
    model: new OpenAiChatModel({ client, model: 'gpt-test' }),
    tools: fileTools(workspace.root).map(({ run: execute, name, description, inputSchema }) =>
      tool((input: unknown) => execute(input as Record<string, string>), {
        name,
        description,
        schema: inputSchema,
      }),
    ),
    systemPrompt: 'You work on a shop.',
    middleware: [makeMiddleware((session) => sessions.push(session))],
    checkpointer: new MemorySaver(),
  });
  const thread = { configurable: { thread_id: 'one' } };
  const states: (readonly BaseMessage[])[] = [];
  for (const task of ['Fix the price.', 'Empty the file.']) {
    const { messages } = await agent.invoke({ messages: [new HumanMessage(task)] }, thread);
    states.push(messages);
  }
  await workspace.remove();
  return { provider, sessions, states };
}

/** The number of tool results in each request. */
function resultsSent({ requests }: ScriptedProvider): readonly number[] {
  return requests.map(
    ({ body }) =>
      (body['messages'] as readonly { readonly role: string }[]).filter(
        ({ role }) => role === 'tool',
      ).length,
  );
}

const OPTIONS = { edits: 'every-turn' } as const;

describe('compactionMiddleware', () => {
  it("sends nothing stale, and leaves the agent's state unchanged", async () => {
    const { provider, sessions, states } = await run((onSession) =>
      compactionMiddleware(compactor, { ...OPTIONS, onSession }),
    );
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    // Stale reads are removed once the file was written, although the checkpointer recreated all messages.
    expect(resultsSent(provider)).toEqual([0, 1, 1, 2, 2, 2]);
    expect(states.map(({ length }) => length)).toEqual([8, 12]);
    expect(states[1]?.filter((message) => message instanceof ToolMessage)).toHaveLength(4);
    expect(sessions).toHaveLength(1);
  });

  it('recognizes a conversation whose messages the application recreates, and the agent gives ids to', async () => {
    const provider = await startStrictProvider([{ text: 'One.' }, { text: 'Two.' }]);
    const client = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1`, maxRetries: 0 });
    const sessions: Session[] = [];
    const onSession = (session: Session): void => void sessions.push(session);
    const said: { role: string; content: string }[] = [];
    for (const content of ['Count.', 'Go on.']) {
      said.push({ role: 'user', content });
      const agent = createAgent({
        model: new OpenAiChatModel({ client, model: 'gpt-test' }),
        middleware: [compactionMiddleware(compactor, { onSession })],
      });
      const { messages } = await agent.invoke({ messages: structuredClone(said) });
      said.push({ role: 'assistant', content: messages.at(-1)!.text });
    }
    expect(sessions).toHaveLength(1);
    expect(sessions[0]?.history.getAll()).toHaveLength(3);
  });

  it('passes on the signal of the run', async () => {
    const middleware = compactionMiddleware(compactor, OPTIONS);
    const controller = new AbortController();
    controller.abort(new Error('enough'));
    const request = {
      messages: [new HumanMessage('hello')],
      runtime: { signal: controller.signal },
      model: {},
    };
    const call = async (): Promise<unknown> =>
      middleware.wrapModelCall?.(request as never, () => new AIMessage('never'));
    await expect(call()).rejects.toThrow('enough');
  });

  it('passes on the rest of the request unchanged', async () => {
    const request = {
      messages: [new HumanMessage('hello')],
      runtime: {},
      model: {},
      tools: [],
      systemPrompt: 'Be brief.',
    };
    let handed: object = {};
    await compactionMiddleware(compactor).wrapModelCall?.(request as never, (next) => {
      handed = next;
      return new AIMessage('hi');
    });
    expect(handed).toEqual(request);
    expect(handed).not.toBe(request);
    expect((handed as typeof request).messages[0]).toBe(request.messages[0]);
  });
});

describe('contextEdit', () => {
  it('sends nothing stale, and removes it from the state', async () => {
    const { provider, sessions, states } = await run((onSession) =>
      contextEditingMiddleware({ edits: [contextEdit(compactor, { ...OPTIONS, onSession })] }),
    );
    expect(provider.requests.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    expect(resultsSent(provider)).toEqual([0, 1, 1, 2, 2, 2]);
    expect(states.map((state) => state.filter((one) => one instanceof ToolMessage).length)).toEqual(
      [2, 2],
    );
    expect(sessions).toHaveLength(1);
  });

  it('mutates the list, and no message', async () => {
    const call = { id: '1', name: 'read_file', args: PRICE };
    const messages: BaseMessage[] = [
      new HumanMessage('go'),
      new AIMessage({ content: 'I read it.', tool_calls: [call] }),
      new ToolMessage({ tool_call_id: '1', content: 'long' }),
      new AIMessage({ content: '', tool_calls: [{ ...call, id: '2', name: 'write_file' }] }),
      new ToolMessage({ tool_call_id: '2', content: 'ok' }),
    ];
    const before = [...messages];
    const original = JSON.stringify(before);
    await contextEdit(compactor, OPTIONS).apply({ messages, countTokens: () => 0 });
    expect(messages.map((message) => message.text)).toEqual(['go', 'I read it.', '', 'ok']);
    expect([messages[0], messages[2], messages[3]]).toEqual([before[0], before[3], before[4]]);
    expect(JSON.stringify(before)).toBe(original);
  });
});
