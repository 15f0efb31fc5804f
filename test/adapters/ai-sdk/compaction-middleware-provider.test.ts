// Compaction on demand through models of the AI SDK: the SDK's own loop, and a provider that checks the compaction items it gets back.

import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';

import { compactionMiddleware } from '../../../src/adapters/ai-sdk/compaction-middleware.js';
import { textPart } from '../../../src/adapters/ai-sdk/sdk-message.js';
import {
  itHasTheModelCompact,
  itSaysWhyNot,
  openCompaction,
  playTalk,
} from '../../support/compaction-by-model.js';
import type { OpenTalk } from '../../support/compaction-by-model.js';
import { sdkModel } from '../../support/responses-models.js';
import { seven } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';

const openTalk =
  (makeModel: (url: string) => object): OpenTalk =>
  ({ url, compactor, options, isHeld, messages: held }) => {
    const { generateText, wrapLanguageModel, tool, jsonSchema } = seven as unknown as Sdk;
    const model = wrapLanguageModel({
      model: makeModel(url) as never,
      middleware: compactionMiddleware(compactor, options),
    });
    const file = tool({ inputSchema: jsonSchema<object>({ type: 'object', properties: {} }) });
    const messages = held as ModelMessage[];
    const openai = { store: false, ...(isHeld && { conversation: 'conv_1' }) };
    return {
      send: async (
        { user, callId, tool: toolName, input, reasoning, result, said },
        next,
        signal,
      ) => {
        const id = { openai: { itemId: reasoning, reasoningEncryptedContent: `of ${reasoning}` } };
        const output = { type: 'text', value: result } as const;
        messages.push(
          { role: 'user', content: user },
          {
            role: 'assistant',
            content: [
              { type: 'reasoning', text: '', providerOptions: id },
              { type: 'tool-call', toolCallId: callId, toolName, input },
            ],
          },
          {
            role: 'tool',
            content: [{ type: 'tool-result', toolCallId: callId, toolName, output }],
          },
          { role: 'assistant', content: said },
          { role: 'user', content: next },
        );
        const { text } = await generateText({
          model,
          system: 'Be brief.',
          tools: { read_file: file, write_file: file } as never,
          messages,
          providerOptions: { openai },
          maxRetries: 0,
          ...(signal && { abortSignal: signal }),
        });
        messages.push({ role: 'assistant', content: text });
      },
    };
  };

describe.runIf(seven !== undefined)("compression by 'provider' with the AI SDK", () => {
  itHasTheModelCompact(openTalk(sdkModel));

  describe.each([
    ['Anthropic', { provider: 'anthropic.messages' }, 'loses what a compaction is signed with'],
    ['Chat Completions', { provider: 'openai.chat' }, 'this is openai.chat'],
    ['xAI', { provider: 'xai.responses' }, 'this is xai.responses'],
  ])('by a model of %s', (_, facts, words) => {
    itSaysWhyNot(
      openTalk((url) => sdkModel(url, facts)),
      words,
    );
  });

  it('asks a model only once if it ignores the request for a compaction, as packages before version 4 do', async () => {
    const { provider, events, play } = await playTalk(
      openTalk((url) => {
        const model = sdkModel(url);
        const doGenerate = (call: Parameters<typeof model.doGenerate>[0]) =>
          model.doGenerate({ ...call, providerOptions: { openai: { store: false } } });
        return sdkModel(url, { doGenerate });
      }),
    );
    let sent = 0;
    for (; sent < 60 && events.length < 2; sent += 1) await play(1);
    expect(events.map((event) => event.fallbackFrom?.error.message)).toEqual(
      events.map(() => expect.stringContaining('as if it was asked for none') as string),
    );
    expect(provider.requests).toHaveLength(sent + 1);
  });

  it('says that a package before version 4, in AI SDK 6, knows no compaction', async () => {
    const model = sdkModel('http://127.0.0.1:9', { specificationVersion: 'v3' });
    const { compactor, options, events } = openCompaction();
    const { transformParams } = compactionMiddleware(compactor, options);
    const prompt = Array.from({ length: 60 }, (_, at) => [
      { role: 'user', content: [textPart(`${at} ${'lorem ipsum '.repeat(80)}`)] },
      { role: 'assistant', content: [textPart('fine')] },
    ] as const).flat(); // prettier-ignore
    await transformParams({ params: { prompt }, model });
    expect(events[0]?.fallbackFrom?.error.message).toContain('before @ai-sdk/openai 4');
  });
});
