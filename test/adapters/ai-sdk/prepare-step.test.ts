// Runs of AI SDK 6 and 7 with a provider on the loopback interface that refuses what real ones refuse.

import type { ModelMessage } from 'ai';
import type { ToolSet } from 'ai-v7';
import { describe, expect, it, vi } from 'vitest';
import { prepareStep } from '../../../src/adapters/ai-sdk/prepare-step.js';
import type { PrepareStepOptions } from '../../../src/adapters/ai-sdk/prepare-step.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { Session } from '../../../src/main/session.js';
import type { ScriptedStep } from '../../../examples/support/scripted-provider.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { chatModel, claude, mapTools, SDK_VERSIONS, seven } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';
import { openCompactor } from '../../support/open-compactor.js';

const READ: ScriptedStep = {
  reasoning: 'I look at it first.',
  toolCalls: [{ name: 'read_file', input: { file_path: 'a.ts' } }],
};
const WRITE: ScriptedStep = {
  reasoning: 'Now I know what to write.',
  text: 'I change it.',
  toolCalls: [{ name: 'write_file', input: { file_path: 'a.ts', content: 'new' } }],
};
const READ_OTHER: ScriptedStep = {
  toolCalls: [{ name: 'read_file', input: { file_path: 'b.ts' } }],
};
const DONE: ScriptedStep = { text: 'Done.' };

/** Reads a file; the read is stale from the third request on. */
const SCRIPT = [READ, WRITE, READ_OTHER, DONE];

const ASK: ModelMessage = { role: 'user', content: 'Change a.ts.' };

/** The roles of the messages of each request, and the calls they hold: `user assistant(read_file) tool`. */
function shapes(requests: readonly { readonly body: Readonly<Record<string, unknown>> }[]) {
  return requests.map(({ body }) => messagesOf(body).map(shapeOf).join(' '));
}

interface WireMessage {
  readonly role: string;
  readonly content?: unknown;
  readonly tool_calls?: readonly { readonly function: { readonly name: string } }[];
}

function messagesOf(body: Readonly<Record<string, unknown>>): readonly WireMessage[] {
  return body['messages'] as readonly WireMessage[];
}

function shapeOf({ role, tool_calls: calls, content }: WireMessage): string {
  const names = calls?.map((call) => call.function.name) ?? [];
  const parts = Array.isArray(content) ? (content as { type: string; name?: string }[]) : [];
  const kinds = parts.flatMap(({ type, name }) => (type === 'text' ? [] : (name ?? type)));
  const inside = [...names, ...kinds];
  return inside.length === 0 ? role : `${role}(${inside.join()})`;
}

/** The messages of all steps of a run, which have another name in version 7. */
function answersOf(result: {
  readonly response: { readonly messages: readonly ModelMessage[] };
  readonly responseMessages?: readonly ModelMessage[];
}): readonly ModelMessage[] {
  return result.responseMessages ?? result.response.messages;
}

describe.each(SDK_VERSIONS)('prepareStep in %s', (_, loaded) => {
  const runs = it.runIf(loaded !== undefined);
  const sdk = loaded as Sdk;

  async function setUp(
    script: readonly ScriptedStep[],
    options: PrepareStepOptions = {},
    compactorOptions: CompactorOptions = {},
  ) {
    const provider = await startStrictProvider(script);
    const sessions: Session[] = [];
    const compactor = openCompactor(compactorOptions);
    const onSession = (session: Session): void => void sessions.push(session);
    const prepare = prepareStep(compactor, { edits: 'every-turn', onSession, ...options });
    const stopWhen = sdk.stepCountIs(10);
    return { provider, sessions, run: { tools: mapTools(sdk), stopWhen, prepareStep: prepare } };
  }

  runs('removes a stale read in the middle of a run', async () => {
    const { provider, run } = await setUp(SCRIPT);
    const model = chatModel(provider);
    const { text } = await sdk.generateText({ ...run, model, system: 'Be brief.', prompt: 'Go.' });
    expect(text).toBe('Done.');
    expect(shapes(provider.requests)).toEqual([
      'system user',
      'system user assistant(read_file) tool',
      'system user assistant(write_file) tool',
      'system user assistant(write_file) tool assistant(read_file) tool',
    ]);
  });

  runs('removes a stale read when it streams', async () => {
    const { provider, run } = await setUp(SCRIPT);
    const { text } = sdk.streamText({ ...run, model: chatModel(provider), messages: [ASK] });
    expect(await text).toBe('Done.');
    expect(shapes(provider.requests)[3]).toBe(
      'user assistant(write_file) tool assistant(read_file) tool',
    );
  });

  runs('removes a stale read in an agent', async () => {
    const { provider, run } = await setUp(SCRIPT);
    const agent = new sdk.ToolLoopAgent({ ...run, model: chatModel(provider) });
    const { text } = await agent.generate({ messages: [ASK] });
    expect(text).toBe('Done.');
    expect(shapes(provider.requests)[3]).toBe(
      'user assistant(write_file) tool assistant(read_file) tool',
    );
  });

  runs('applies edits together, once they reclaim enough', async () => {
    const writeOther = { name: 'write_file', input: { file_path: 'b.ts', content: 'new' } };
    const script = [READ, WRITE, READ_OTHER, { toolCalls: [writeOther] }, DONE];
    const { provider, run } = await setUp(script, { edits: 'batched', minReclaimTokens: 300 });
    await sdk.generateText({ ...run, model: chatModel(provider), messages: [ASK] });
    const [read, write] = ['assistant(read_file) tool', 'assistant(write_file) tool'];
    expect(shapes(provider.requests).slice(2)).toEqual([
      `user ${read} ${write}`,
      `user ${read} ${write} ${read}`,
      `user ${write} ${write}`,
    ]);
  });

  runs('makes a run fit the window of the model', async () => {
    const reads = Array.from({ length: 30 }, (_, at): ScriptedStep => ({
      toolCalls: [{ name: 'read_file', input: { file_path: `${at}.ts` } }],
    }));
    const { provider, run } = await setUp([...reads, DONE], {}, { contextLimit: 2_000 });
    const { text } = await sdk.generateText({
      ...run,
      model: chatModel(provider),
      messages: [ASK],
      stopWhen: sdk.stepCountIs(50),
    });
    expect(text).toBe('Done.');
    const sizes = provider.requests.map(({ body }) => JSON.stringify(body['messages']).length);
    expect(Math.max(...sizes)).toBeLessThan(4 * 2_000);
    expect(provider.requests.map(({ status }) => status)).not.toContain(400);
  });

  runs('makes no edit by default that is too small to be worth the cache', async () => {
    const { provider, run } = await setUp(SCRIPT, { edits: undefined, minReclaimTokens: 20_000 });
    await sdk.generateText({ ...run, model: chatModel(provider), messages: [ASK] });
    expect(shapes(provider.requests)[3]).toBe(
      'user assistant(read_file) tool assistant(write_file) tool assistant(read_file) tool',
    );
  });

  runs('keeps reasoning of Anthropic before the first edit and none after it', async () => {
    const { provider, run } = await setUp([{ ...READ_OTHER, reasoning: 'Around.' }, ...SCRIPT]);
    await sdk.generateText({ ...run, model: claude(provider), messages: [ASK] });
    const around = 'user assistant(thinking,read_file) user(tool_result)';
    expect(shapes(provider.requests)).toEqual([
      'user',
      around,
      `${around} assistant(thinking,read_file) user(tool_result)`,
      `${around} assistant(write_file) user(tool_result)`,
      `${around} assistant(write_file) user(tool_result) assistant(read_file) user(tool_result)`,
    ]);
  });

  runs('keeps the reasoning of other models, and of Anthropic if configured', async () => {
    const { provider, run } = await setUp([...SCRIPT, ...SCRIPT], { reasoning: 'keep' });
    await sdk.generateText({ ...run, model: claude(provider), messages: [ASK] });
    expect(shapes(provider.requests)[2]).toBe(
      'user assistant(thinking,write_file) user(tool_result)',
    );
    const other = await setUp(SCRIPT);
    await sdk.generateText({ ...other.run, model: chatModel(other.provider), messages: [ASK] });
    expect(messagesOf(other.provider.requests[2]?.body ?? {})[1]).toMatchObject({
      reasoning_content: 'Now I know what to write.',
    });
  });

  runs('continues the session in the next run of the conversation', async () => {
    const { provider, sessions, run } = await setUp([...SCRIPT, READ_OTHER, DONE]);
    const model = chatModel(provider);
    const result = await sdk.generateText({ ...run, model, messages: [ASK] });
    await sdk.generateText({ ...run, model, messages: [ASK, ...answersOf(result), ASK] });
    expect(sessions).toHaveLength(1);
    expect(shapes(provider.requests)[4]).toBe(
      'user assistant(write_file) tool assistant(read_file) tool assistant user',
    );
  });

  runs('does not mutate the messages of the caller', async () => {
    const { provider, run } = await setUp([...SCRIPT, DONE]);
    const model = chatModel(provider);
    const answers = answersOf(await sdk.generateText({ ...run, model, messages: [ASK] }));
    expect(answers.map(({ role }) => role).join(' ')).toBe(
      'assistant tool assistant tool assistant tool assistant',
    );
    const before = structuredClone(answers);
    await sdk.generateText({ ...run, model, messages: [ASK, ...answers, ASK] });
    expect(answers).toEqual(before);
  });

  runs('removes a call together with its approval', async () => {
    const { provider, run } = await setUp(SCRIPT);
    const model = chatModel(provider);
    const { read_file, write_file } = run.tools;
    const tools = { read_file: { ...read_file, needsApproval: true }, write_file };
    const messages: ModelMessage[] = [ASK];
    const approvals: unknown[] = [];
    for (let turn = 0; turn < 3; turn += 1) {
      const result = await sdk.generateText({ ...run, tools, model, messages });
      messages.push(...answersOf(result));
      const asked = result.content.filter((part) => part.type === 'tool-approval-request');
      if (asked.length === 0) break;
      approvals.push(...asked);
      messages.push({
        role: 'tool',
        content: asked.map(({ approvalId }) => {
          return { type: 'tool-approval-response', approvalId, approved: true };
        }),
      });
    }
    expect(approvals).toHaveLength(2);
    expect(shapes(provider.requests)[3]).toBe(
      'user assistant(write_file) tool assistant(read_file) tool',
    );
    const compact = prepareStep(openCompactor(), { edits: 'every-turn' });
    const step = await compact({ model: 'scripted', messages, steps: [] });
    const left = JSON.stringify(step.messages);
    expect(left.match(/tool-approval-(request|response)/g)).toHaveLength(2);
  });

  runs('rejects with the abort reason of its signal', async () => {
    const reason = new Error('enough');
    const { provider, run } = await setUp(SCRIPT, { signal: AbortSignal.abort(reason) });
    const running = sdk.generateText({ ...run, model: chatModel(provider), messages: [ASK] });
    await expect(running).rejects.toBe(reason);
    expect(provider.requests).toEqual([]);
  });
});

describe('prepareStep', () => {
  it.runIf(SDK_VERSIONS.every(([, sdk]) => sdk))('sends the same with both versions', async () => {
    const sent = [];
    for (const [, sdk] of SDK_VERSIONS) {
      if (sdk === undefined) continue;
      const { requests, url, ...rest } = await startStrictProvider([...SCRIPT, ...SCRIPT]);
      const provider = { requests, url, ...rest };
      const prepare = prepareStep(openCompactor(), { edits: 'every-turn' });
      const run = { model: chatModel(provider), tools: mapTools(sdk), prepareStep: prepare };
      const stopWhen = sdk.stepCountIs(10);
      const result = await sdk.generateText({ ...run, stopWhen, messages: [ASK] });
      await sdk.generateText({ ...run, stopWhen, messages: [ASK, ...answersOf(result), ASK] });
      sent.push(requests.map(({ body }) => messagesOf(body)));
    }
    expect(sent[0]).toHaveLength(8);
    expect(sent[0]).toEqual(sent[1]);
  });

  it.runIf(seven)('passes on the messages that steer a run of ai@7', async () => {
    if (seven === undefined) return;
    const provider = await startStrictProvider(SCRIPT);
    const steering = seven.experimental_createSteering();
    const outcomes: Promise<unknown>[] = [];
    const { text } = await seven.generateText({
      model: chatModel(provider),
      tools: mapTools(seven as unknown as Sdk) as unknown as ToolSet,
      prompt: 'Change a.ts.',
      stopWhen: seven.stepCountIs(10),
      prepareStep: prepareStep(openCompactor(), { edits: 'every-turn' }),
      experimental_steering: steering,
      onStepEnd: ({ stepNumber }) => {
        if (stepNumber === 1) outcomes.push(steering.steer('And b.ts.'), steering.steer('Fast.'));
      },
    });
    expect(text).toBe('Done.');
    expect(shapes(provider.requests).slice(2)).toEqual([
      'user assistant(write_file) tool user user',
      'user assistant(write_file) tool user user assistant(read_file) tool',
    ]);
    expect(await Promise.all(outcomes)).toMatchObject([
      { type: 'delivered', stepNumber: 2 },
      { type: 'delivered', stepNumber: 2 },
    ]);
  });

  it('returns an object without messages when nothing is to be edited: durable agents read its fields', async () => {
    const prepare = prepareStep(openCompactor());
    expect(await prepare({ model: 'scripted', messages: [ASK], steps: [] })).toEqual({});
  });

  it('returns a wrapper of a model object, and no model for a name', async () => {
    const prepare = prepareStep(openCompactor());
    const step = { messages: [ASK], steps: [] };
    const answer = async () => ({ content: [] });
    const model = { provider: 'p', modelId: 'm', doGenerate: answer, doStream: answer };
    const { model: watched, ...rest } = await prepare({ ...step, model });
    expect([watched?.modelId, rest]).toEqual(['m', {}]);
    expect(watched).not.toBe(model);
    const durable = (async () => model) as never;
    expect(await prepare({ ...step, model: durable })).toEqual({});
  });

  it('continues the same conversations when it is made again with the same options', async () => {
    const compactor = openCompactor();
    const names: string[] = [];
    const onSession = ({ sessionId }: Session): void => void names.push(sessionId);
    const step = { model: 'scripted', messages: [ASK], steps: [] };
    await prepareStep(compactor, { onSession })(step);
    await prepareStep(compactor, { onSession, signal: new AbortController().signal })(step);
    expect(names).toHaveLength(1);
    await prepareStep(compactor, { onSession, edits: 'every-turn' })(step);
    await prepareStep(openCompactor(), { onSession })(step);
    expect(names).toHaveLength(3);
  });

  it('names the session after the conversation', async () => {
    const names: string[] = [];
    const onSession = ({ sessionId }: Session): void => void names.push(sessionId);
    const prepare = prepareStep(openCompactor(), { onSession, conversationId: 'chat-7' });
    await prepare({ model: 'scripted', messages: [ASK], steps: [] });
    expect(names).toEqual(['chat-7']);
  });

  it('reports the usage of the previous step to the session, unless that is a sum', async () => {
    const sessions: Session[] = [];
    const onSession = (session: Session): void => void sessions.push(session);
    const prepare = prepareStep(openCompactor(), { onSession });
    const messages: ModelMessage[] = [{ role: 'user', content: 'word '.repeat(2_000) }];
    const model = 'scripted';
    await prepare({ model, messages: [...messages], steps: [] });
    const inputTokenDetails = { cacheReadTokens: 3_000, cacheWriteTokens: 900 };
    const usage = { inputTokens: 4_000, inputTokenDetails };
    const [session] = sessions;
    const report = session && vi.spyOn(session, 'reportUsage');
    messages.push({ role: 'assistant', content: 'Look.' }, ASK);
    const steps = [{ usage: { inputTokens: 9 } }, { usage }];
    // The previous step was made by another model.
    await prepare({ model: 'another', messages: [...messages], steps });
    messages.push({ role: 'assistant', content: 'I have searched.' }, ASK);
    const searched = { usage, content: [{ type: 'tool-call', providerExecuted: true }] };
    await prepare({ model, messages: [...messages], steps: [searched] });
    expect(report).toHaveBeenCalledExactlyOnceWith({
      inputTokens: 4_000,
      cacheReadTokens: 3_000,
    });
  });

  it('edits nothing in front of reasoning that GPT-6.2 binds to its prefix', async () => {
    const landed = async (modelId: string): Promise<number> => {
      let pruned = 0;
      const prepare = prepareStep(openCompactor(), {
        onSession: (session) => session.on('pruned', () => (pruned += 1)),
      });
      const messages: ModelMessage[] = [ASK];
      for (let at = 0; at < 12; at += 1) {
        await prepare({
          model: { provider: 'openai.responses', modelId },
          messages: [...messages],
          steps: [],
        });
        const openai = { itemId: `rs_${at}`, reasoningEncryptedContent: 'sealed' };
        const call = {
          type: 'tool-call',
          toolCallId: `c${at}`,
          ...(at % 2 === 0
            ? { toolName: 'read_file', input: { file_path: 'a.ts' } }
            : { toolName: 'write_file', input: { file_path: 'a.ts', content: 'new' } }),
        } as const;
        const { toolCallId, toolName } = call;
        const output = { type: 'text', value: `${at} `.repeat(20_000) } as const;
        messages.push(
          {
            role: 'assistant',
            content: [{ type: 'reasoning', text: '', providerOptions: { openai } }, call],
          },
          { role: 'tool', content: [{ type: 'tool-result', toolCallId, toolName, output }] },
        );
      }
      return pruned;
    };
    expect(await landed('gpt-6.2-sol')).toBe(0);
    expect(await landed('gpt-5.5')).toBeGreaterThan(0);
  });

  it('refuses invalid options when it is made', () => {
    expect(() => prepareStep(openCompactor(), { maxConversations: 0 })).toThrow(RangeError);
  });
});

it.each([
  [null, 'an object of what a step is prepared with, got null'],
  [[ASK], 'an object of what a step is prepared with, got an array'],
  [Promise.resolve({}), 'an object of what a step is prepared with, got an instance of Promise'],
  [{}, 'an array of messages as `messages` of a step, got undefined'],
  [{ messages: 'secret' }, 'an array of messages as `messages` of a step, got a string'],
])('prepareStep says what it expected in place of a step: %j', async (step, expected) => {
  const prepare = prepareStep(openCompactor());
  await expect(prepare(step as never)).rejects.toThrow(`Expected ${expected}.`);
});
