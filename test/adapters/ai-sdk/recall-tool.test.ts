// A model recalls what was pruned, in runs of AI SDK 6 and 7; and what it is told when the recall fails.

import { describe, expect, it } from 'vitest';
import { messageCompactor } from '../../../src/adapters/ai-sdk/message-compactor.js';
import { prepareStep } from '../../../src/adapters/ai-sdk/prepare-step.js';
import { recallTool } from '../../../src/adapters/ai-sdk/recall-tool.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import { CtxfoldError } from '../../../src/shared/errors.js';
import { temporaryPath } from '../../main/removal-log/recording.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { chatModel, mapTools, SDK_VERSIONS } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';
import { openCompactor } from '../../support/open-compactor.js';

const SETTINGS = {
  'compression.density.recencyPruning': true,
  'compression.density.recencyRetention': 1,
  'compression.density.placeholder': 'informative',
} as const;

const CONVERSATION = { conversationId: 's', removalLogDirectory: 't' };

function read(path: string) {
  return { toolCalls: [{ name: 'read_file', input: { file_path: path } }] };
}

describe.each(SDK_VERSIONS)('recallTool in %s', (_, loaded) => {
  it.runIf(loaded !== undefined)('gives the original back to the model', async () => {
    const sdk = loaded as Sdk;
    const conversation = {
      conversationId: '../of one/user',
      removalLogDirectory: temporaryPath('transcripts'),
    };
    const compactor = openCompactor({ settings: SETTINGS });
    const files = new Map([['a.ts', 'first \ud800\u0000\nsecond\n'.repeat(30)]]);
    const messages = [{ role: 'user' as const, content: 'Look at both files.' }];
    const compact = prepareStep(compactor, { edits: 'every-turn', ...conversation });
    const reading = await startStrictProvider([read('a.ts'), read('b.ts'), { text: 'Read.' }]);
    const before = await sdk.generateText({
      model: chatModel(reading),
      messages,
      tools: mapTools(sdk, files),
      stopWhen: sdk.stepCountIs(5),
      prepareStep: compact,
    });
    const placeholder =
      /"(\[read_file: a\.ts — success, 61 lines; recall\([^)]*\) for the original\])"/;
    const sent = JSON.stringify(reading.requests.at(-1)?.body);
    const line = placeholder.exec(sent.replaceAll('\\"', "'"))?.[1];
    const id = /recall\('(.*)'\)/.exec(line ?? '')?.[1];
    expect(id).toBeTypeOf('string');

    const recalling = await startStrictProvider([
      { toolCalls: [{ name: 'recall', input: { id } }] },
      { text: 'Done.' },
    ]);
    await sdk.generateText({
      model: chatModel(recalling),
      messages: [
        ...messages,
        ...((before as { responseMessages?: typeof before.response.messages }).responseMessages ??
          before.response.messages),
        { role: 'user', content: 'What was in a.ts?' },
      ],
      tools: { ...mapTools(sdk, files), recall: recallTool(compactor, conversation) },
      stopWhen: sdk.stepCountIs(5),
      prepareStep: compact,
    });
    const { tools } = recalling.requests[0]?.body as {
      tools: { function: { name: string; parameters: unknown; description: string } }[];
    };
    expect(tools.find(({ function: { name } }) => name === 'recall')?.function).toMatchObject({
      description: expect.stringContaining('placeholder'),
      parameters: {
        type: 'object',
        properties: { id: { type: 'string' } },
        required: ['id'],
        additionalProperties: false,
      },
    });
    const { messages: last } = recalling.requests.at(-1)?.body as {
      messages: { role: string; content: string }[];
    };
    expect(last.at(-1)).toMatchObject({ role: 'tool', content: files.get('a.ts') });
  });
});

describe('recallTool', () => {
  const recallFrom = (restore: Compactor['restore']) =>
    recallTool({ restore }, CONVERSATION).execute;

  it('returns any result as it is, and the error of a failure without output', async () => {
    const response = { type: 'tool_response', callId: 'c', toolName: 't' } as const;
    const restoring = (rest: { result: unknown; error?: string }) =>
      recallFrom(() =>
        Promise.resolve({ response: { ...response, ...rest }, sessionId: 's', recordedAt: 1 }),
      )({ id: 'c' });
    const result = { deep: [{ ly: '\ud800' }] };
    expect(await restoring({ result })).toBe(result);
    expect(await restoring({ result: 'said so', error: 'failed' })).toBe('said so');
    expect(await restoring({ result: '', error: 'no such file' })).toBe('no such file');
    expect(await restoring({ result: 0 })).toBe(0);
  });

  it('tells the model what to do instead of failing', async () => {
    const failing = (error: unknown) =>
      recallFrom(() => {
        throw error;
      });
    const absent = new CtxfoldError('/secret/path has none', 'NOT_IN_REMOVAL_LOG');
    expect(await failing(absent)({ id: 'c9' })).toMatch(
      /^No original is on record for "c9"\..*run the tool again\.$/,
    );
    const unread = new CtxfoldError('/secret/path', 'REMOVAL_LOG_READ_FAILED');
    for (const error of [unread, new Error('/secret/path'), null]) {
      expect(await failing(error)({ id: 'c9' })).toBe(
        'The original of "c9" cannot be read just now. Run the tool again if you need its result.',
      );
    }
    expect(await failing(absent)({ id: 7 } as unknown as { id: string })).toMatch(
      /^Nothing was recalled/,
    );
    expect(String(await failing(absent)({ id: 'x'.repeat(9_999) })).length).toBeLessThan(400);
  });

  it('accepts an id, and names the field `id` in the issue for anything else', () => {
    const { validate } = recallTool(openCompactor(), CONVERSATION).inputSchema['~standard'];
    expect(validate({ id: 'c', more: 1 })).toEqual({ value: { id: 'c' } });
    for (const value of [undefined, null, 'c', {}, { id: 7 }]) {
      expect(validate(value)).toEqual({ issues: [{ message: expect.stringContaining('id') }] });
    }
  });

  it('recalls results of one conversation, or of all if configured', async () => {
    const compactor = openCompactor({ settings: SETTINGS });
    const removalLogDirectory = temporaryPath('transcripts');
    for (const user of ['ann', 'bob']) {
      const compact = messageCompactor(compactor, { edits: 'every-turn', removalLogDirectory });
      const step = (id: string, value: string) =>
        [
          {
            role: 'assistant',
            content: [{ type: 'tool-call', toolCallId: id, toolName: 'look', input: { at: 'x' } }],
          },
          {
            role: 'tool',
            content: [
              {
                type: 'tool-result',
                toolCallId: id,
                toolName: 'look',
                output: { type: 'text', value },
              },
            ],
          },
        ] as const;
      const messages = [
        { role: 'user' as const, content: 'Look.' },
        ...step(`of ${user}`, `what ${user} saw`),
        ...step('2', 'later'),
      ];
      await compact(structuredClone(messages) as never, { conversationId: user });
    }
    const ofAnn = recallTool(compactor, { conversationId: 'ann', removalLogDirectory });
    expect(await ofAnn.execute({ id: 'of ann' })).toBe('what ann saw');
    expect(await ofAnn.execute({ id: 'of bob' })).toMatch(/^No original/);
    const ofAnyone = recallTool(compactor, { acrossSessions: true });
    expect(await ofAnyone.execute({ id: 'of bob' })).toBe('what bob saw');
  });

  it('can be made for a session', async () => {
    const session = await openCompactor({ settings: SETTINGS }).createSession({
      edits: 'every-turn',
      removalLogDirectory: temporaryPath('transcripts'),
      history: [
        ...[1, 2].flatMap((id) => [
          aiContent([toolCall(`c${id}`, 'look', {})]),
          toolContent([toolResponse(`c${id}`, 'look', `seen ${id}`)]),
        ]),
      ],
    });
    await session.ensureCompressionBeforeSend('p');
    expect(await recallTool(session).execute({ id: 'c1' })).toBe('seen 1');
  });

  it('cannot be made without a conversation', () => {
    const compactor = openCompactor();
    const make = recallTool as (...given: readonly unknown[]) => unknown;
    // @ts-expect-error A compactor alone does not say whose results may be recalled.
    expect(() => recallTool(compactor)).toThrow(TypeError);
    expect(() => recallTool(undefined as never)).toThrow(
      'Expected a session or a compactor, got undefined.',
    );
    const nobody = [
      {},
      { ...CONVERSATION, conversationId: undefined },
      { ...CONVERSATION, conversationId: '' },
      { ...CONVERSATION, conversationId: 7 },
      { conversationId: 's' },
      { ...CONVERSATION, removalLogDirectory: '' },
      { acrossSessions: 'true' },
      { acrossSessions: 1 },
      { acrossSessions: true, conversationId: 'ann' },
      { sessionId: 'ann' },
      null,
    ];
    for (const conversation of nobody) {
      expect(() => make(compactor, conversation)).toThrow(TypeError);
    }
  });
});
