// A chat whose server rebuilds the messages of each request from UI messages. Users approve or deny some calls of a step.

import type { AssistantModelMessage, UIMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { withSettledResults } from '../../../src/adapters/ai-sdk/step-results.js';
import { MODEL_MESSAGE_FORMAT } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import type { SdkMessage } from '../../../src/adapters/ai-sdk/sdk-message.js';
import { compactionMiddleware, messageCompactor, prepareStep } from '../../../src/ai-sdk.js';
import type { Session } from '../../../src/main/session.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { chatModel, claude, SDK_VERSIONS } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';
import { openCompactor } from '../../support/open-compactor.js';

const SCRIPT = [
  {
    toolCalls: [
      { name: 'remove', input: { path: 'a.ts' } },
      { name: 'read', input: { path: 'b.ts' } },
      { name: 'remove', input: { path: 'd.ts' } },
    ],
  },
  { toolCalls: [{ name: 'read', input: { path: 'c.ts' } }] },
  { text: 'Done.' },
  { text: 'Nothing.' },
];

/** The messages of a chat as the client's request carries them. */
const overTheWire = (messages: readonly UIMessage[]): UIMessage[] =>
  JSON.parse(JSON.stringify(messages)) as UIMessage[];

function userMessage(text: string): UIMessage {
  return { id: text, role: 'user', parts: [{ type: 'text', text }] };
}

/** A result that is shrunk before it is first sent: its padding is removed. */
function numbered(path: string): string {
  const lines = Array.from(
    { length: 40 },
    (_, at) => `${`${at + 1}`.padStart(9)}\t${path}, line ${at + 1}`,
  );
  return lines.join('\n');
}

interface Approvable {
  state?: string;
  approval?: object;
}

describe.each(SDK_VERSIONS)('results of approved calls in %s', (_, loaded) => {
  const runs = it.runIf(loaded !== undefined);
  const sdk = loaded as Sdk;

  runs.each([
    { way: 'prepareStep', answers: [{ approved: true }, { approved: true }] },
    { way: 'prepareStep', answers: [{ approved: false }, { approved: true }] },
    { way: 'prepareStep', answers: [{ approved: true }, { approved: false, reason: 'Keep it.' }] },
    { way: 'prepareStep', answers: [{ approved: false }, { approved: false, reason: 'Keep it.' }] },
    { way: 'compactionMiddleware', answers: [{ approved: true }, { approved: false }] },
    { way: 'compactionMiddleware', answers: [{ approved: false }, { approved: true }] },
    { way: 'prepareStep', answers: [{ approved: false }, { approved: true }], isFresh: true },
    {
      way: 'compactionMiddleware',
      answers: [{ approved: false }, { approved: true }],
      isFresh: true,
    },
  ])(
    'are sent the same in later requests: $way, $answers, in new processes: $isFresh',
    async ({ way, answers, isFresh }) => {
      const provider = await startStrictProvider(SCRIPT);
      const store = memoryStore();
      let compactor = openCompactor({ store });
      const sessions: Session[] = [];
      const options = { onSession: (session: Session): void => void sessions.push(session) };
      const isMiddleware = way === 'compactionMiddleware';
      // Claude is sent a denial in another form than an error.
      const plain = isMiddleware ? claude(provider) : chatModel(provider);
      const schema = sdk.jsonSchema<{ path: string }>({
        type: 'object',
        properties: { path: { type: 'string' } },
      });
      const tools = {
        remove: sdk.tool({
          inputSchema: schema,
          needsApproval: true,
          execute: () => 'Removed it.',
        }),
        read: sdk.tool({ inputSchema: schema, execute: ({ path }) => numbered(path) }),
      };
      let chat = [userMessage('Remove a.ts, and read the others.')];
      const serve = async (): Promise<void> => {
        if (isFresh) compactor = openCompactor({ store });
        const middleware = compactionMiddleware(compactor, options);
        const originalMessages = overTheWire(chat);
        const result = sdk.streamText({
          model: isMiddleware ? sdk.wrapLanguageModel({ model: plain, middleware }) : plain,
          tools,
          stopWhen: sdk.stepCountIs(9),
          messages: await sdk.convertToModelMessages(originalMessages, { tools }),
          ...(!isMiddleware && { prepareStep: prepareStep(compactor, options) }),
        });
        const onFinish = ({ messages }: { messages: UIMessage[] }): void => {
          chat = overTheWire(messages);
        };
        const generateMessageId = (): string => `answer-${chat.length}`;
        const stream = result.toUIMessageStream({ originalMessages, generateMessageId, onFinish });
        for await (const _ of stream);
      };

      await serve();
      const parts = chat.at(-1)?.parts as Approvable[];
      const asked = parts.filter(({ state }) => state === 'approval-requested');
      for (const [at, part] of asked.entries()) {
        part.approval = { ...part.approval, ...answers[at] };
        part.state = 'approval-responded';
      }
      await serve();
      chat.push(userMessage('What is left?'));
      await serve();

      const [, , before, last] = provider.requests.map(({ body }) => body['messages'] as unknown[]);
      expect(last?.slice(0, before?.length)).toEqual(before);
      expect(JSON.stringify(before)).toContain('b.ts, line 20\\n21\\t');
      expect(sessions).toHaveLength(isFresh ? 3 : 1);
    },
  );
});

describe('a result', () => {
  const message = (role: 'assistant' | 'tool', part: object): SdkMessage =>
    ({ role, content: [part] }) as never;
  const { isSame } = MODEL_MESSAGE_FORMAT;
  const call = { type: 'tool-call', toolCallId: 'c1', toolName: 'remove', input: {} };
  const result = { type: 'tool-result', toolCallId: 'c1', output: { type: 'text', value: 'ok' } };
  const providerOptions = { openai: { itemId: 'fc_1' } };

  it("is the same with or without a copy of its call's options; a call is not", () => {
    const copied = message('tool', { ...result, providerOptions });
    expect(isSame(copied, message('tool', result))).toBe(true);
    expect(isSame(message('tool', result), copied)).toBe(true);
    expect(isSame(copied, message('tool', { ...result, toolCallId: 'c2' }))).toBe(false);
    const calling = message('assistant', { ...call, providerOptions });
    expect(isSame(calling, message('assistant', call))).toBe(false);
  });
});

describe('results of parallel calls', () => {
  it('are the same in the order in which they came and in the order of the calls', async () => {
    const compact = messageCompactor<SdkMessage>(openCompactor());
    const ids = ['c1', 'c2'];
    const calls = ids.map((toolCallId) => ({
      ...{ type: 'tool-call', toolCallId, toolName: 'read', input: {} },
    }));
    const results = ids.map((toolCallId) => ({
      ...{ type: 'tool-result', toolCallId, toolName: 'read' },
      output: { type: 'text', value: 'ok' },
    }));
    const start: SdkMessage[] = [
      { role: 'user', content: 'Read both.' },
      { role: 'assistant', content: calls },
    ];
    const settled: SdkMessage = { role: 'tool', content: results };
    const late: SdkMessage = { role: 'tool', content: results.toReversed() };
    expect(await compact([...start, late])).toEqual([...start, settled]);
    const later = [...start, settled, { role: 'user', content: 'And now?' } as const];
    expect((await compact(later))[2]).toBe(settled);
    expect(compact.report()).toHaveLength(1);
  });
});

describe.each(SDK_VERSIONS)('an empty text with which an answer began in %s', (_, loaded) => {
  it.runIf(loaded !== undefined)('begins no other conversation', async () => {
    const { convertToModelMessages } = loaded as Sdk;
    const compact = messageCompactor<SdkMessage>(openCompactor());
    const call = { type: 'tool-read', toolCallId: 'c1', input: {} } as const;
    const chat: UIMessage[] = [
      userMessage('Read it.'),
      {
        ...{ id: 'a', role: 'assistant' },
        parts: [
          { type: 'step-start' },
          { type: 'text', text: '' },
          { ...call, state: 'output-available', output: 'ok' },
        ],
      },
    ];
    const ofChat: SdkMessage[] = await convertToModelMessages(chat);
    const [asked, answer, result] = ofChat as [SdkMessage, SdkMessage, SdkMessage];
    // A run leaves the text out.
    const inRun = { ...answer, content: answer.content.slice(1) } as SdkMessage;
    await compact([asked, inRun, result]);
    const later = [...ofChat, { role: 'user', content: 'And now?' } as const];
    expect(await compact(later)).toEqual(later);
    expect(compact.report()).toHaveLength(1);
  });

  it('stays where there is nothing else, and where it has options', async () => {
    const compact = messageCompactor<SdkMessage>(openCompactor());
    const empty = { type: 'text', text: '' } as const;
    const hello = { ...empty, text: 'Hello.' };
    const signed = { ...empty, providerOptions: { google: { thoughtSignature: 's' } } };
    const messages: SdkMessage[] = [
      { role: 'user', content: 'Hello.' },
      { role: 'assistant', content: [empty] },
      { role: 'user', content: 'Hello?' },
      { role: 'assistant', content: [hello, signed] },
    ];
    expect(withSettledResults(messages)).toBe(messages);
    expect(await compact(messages)).toEqual(messages);
  });
});

describe('withSettledResults', () => {
  it('makes the same object of a message again, until its parts or options change', () => {
    const call = { type: 'tool-call' as const, toolCallId: 'c1', toolName: 'read', input: {} };
    const content = [{ type: 'text' as const, text: '' }, call];
    const answer: AssistantModelMessage = { role: 'assistant', content };
    const settled = (): unknown => withSettledResults([answer])[0];
    const first = settled();
    expect(first).toEqual({ role: 'assistant', content: [call] });
    expect(settled()).toBe(first);
    content.push({ ...call, toolCallId: 'c2' });
    expect(settled()).toEqual({ role: 'assistant', content: content.slice(1) });
    answer.providerOptions = { anthropic: { cacheControl: { type: 'ephemeral' } } };
    expect(settled()).toMatchObject({ providerOptions: answer.providerOptions });
  });
});

describe('a denial', () => {
  const asked = {
    role: 'assistant',
    content: [
      { type: 'tool-call', toolCallId: 'c1', toolName: 'remove', input: {} },
      { type: 'tool-approval-request', approvalId: 'ok1', toolCallId: 'c1' },
    ],
  } as const;
  const answered = (value: string) =>
    ({
      role: 'tool',
      content: [
        { type: 'tool-approval-response', approvalId: 'ok1', approved: false, reason: 'No.' },
        {
          ...{ type: 'tool-result', toolCallId: 'c1', toolName: 'remove' },
          output: { type: 'error-text', value },
        },
      ],
    }) as const;

  const promptOf = (output: object): SdkMessage =>
    ({ role: 'tool', content: [{ type: 'tool-result', toolCallId: 'c1', output }] }) as never;

  it('is sent in the words that a host chose for it', async () => {
    const compact = messageCompactor<SdkMessage>(openCompactor());
    const messages: SdkMessage[] = [
      { role: 'user', content: 'Remove it.' },
      asked,
      answered('Ask me again tomorrow.'),
    ];
    expect((await compact(messages))[2]).toBe(messages[2]);
  });

  it.each([
    [
      { type: 'execution-denied', reason: 'No.' },
      { type: 'error-text', value: 'No.' },
    ],
    [{ type: 'execution-denied' }, { type: 'error-text', value: 'Tool call execution denied.' }],
  ])('is sent as an error in a prompt: %j', (output, error) => {
    const prompt = [promptOf(output)];
    const copy = structuredClone(prompt);
    expect(withSettledResults(prompt)).toEqual([promptOf(error)]);
    expect(prompt).toEqual(copy);
  });

  it('stays as it is in a prompt where the provider asked for approval, and so does any other error', () => {
    const providerOptions = { openai: { approvalId: 'ok1' } };
    const prompt = [
      promptOf({ type: 'execution-denied', reason: 'No.', providerOptions }),
      promptOf({ type: 'error-text', value: 'No.' }),
    ];
    expect(withSettledResults(prompt)).toEqual(prompt);
  });

  it('stays as it is in a prompt that cannot be read', () => {
    const prompt = [
      promptOf({ type: 'execution-denied' }),
      { role: 'tool', content: [null] } as never,
    ];
    expect(withSettledResults(prompt)).toBe(prompt);
  });
});
