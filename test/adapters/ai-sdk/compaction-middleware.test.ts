// A model of AI SDK 6 and 7 that prunes its own prompts, with a provider that refuses what real ones refuse.

import type { ModelMessage } from 'ai';
import { describe, expect, it } from 'vitest';
import { compactionMiddleware } from '../../../src/adapters/ai-sdk/compaction-middleware.js';
import type { SdkMessage } from '../../../src/adapters/ai-sdk/sdk-message.js';
import type { AdapterOptions } from '../../../src/ai-sdk.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Session } from '../../../src/main/session.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { chatModel, claude, mapTools, SDK_VERSIONS } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';
import { openCompactor } from '../../support/open-compactor.js';

const SCRIPT = [
  { toolCalls: [{ name: 'read_file', input: { file_path: 'a.ts' } }] },
  { toolCalls: [{ name: 'write_file', input: { file_path: 'a.ts', content: 'new' } }] },
  { toolCalls: [{ name: 'read_file', input: { file_path: 'b.ts' } }] },
  { text: 'Done.' },
];

const PICTURE: ModelMessage = {
  role: 'user',
  content: [
    { type: 'text', text: 'Make it look like this.' },
    { type: 'image', image: new Uint8Array([137, 80, 78, 71]) },
  ],
};

function toolNames(body: Readonly<Record<string, unknown>> | undefined): string {
  const names = JSON.stringify(body?.['messages']).match(/"name":"\w+"/g) ?? [];
  return names.map((name) => name.slice(8, -1)).join(' ');
}

describe.each(SDK_VERSIONS)('compactionMiddleware in %s', (_, loaded) => {
  const runs = it.runIf(loaded !== undefined);
  const sdk = loaded as Sdk;

  runs.each(['generate', 'stream'])('removes a stale read from the prompt of %s', async (way) => {
    const provider = await startStrictProvider(SCRIPT);
    const sessions: Session[] = [];
    const onSession = (session: Session): void => void sessions.push(session);
    const middleware = compactionMiddleware(openCompactor(), { edits: 'every-turn', onSession });
    const model = sdk.wrapLanguageModel({ model: chatModel(provider), middleware });
    const run = {
      model,
      tools: mapTools(sdk),
      stopWhen: sdk.stepCountIs(10),
      system: 'Be brief.',
      messages: [PICTURE],
    };
    const { text } = way === 'generate' ? await sdk.generateText(run) : sdk.streamText(run);
    expect(await text).toBe('Done.');
    expect(provider.requests.map(({ body }) => toolNames(body))).toEqual([
      '',
      'read_file',
      'write_file',
      'write_file read_file',
    ]);
    expect(sessions).toHaveLength(1);
  });

  runs.each(['generate', 'stream'])('learns from a refusal in %s', async (way) => {
    const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
    const middleware = compactionMiddleware(compactor);
    const refused = new Error("This model's maximum context length is 4096 tokens.");
    const call = {
      doGenerate: () => Promise.reject(refused),
      doStream: () => Promise.reject(refused),
      params: {},
      model: { provider: 'openai.chat', modelId: 'of-mine' },
    };
    const asking = way === 'generate' ? middleware.wrapGenerate(call) : middleware.wrapStream(call);
    await expect(asking).rejects.toBe(refused);
    expect(compactor.status().learnedLimits).toEqual({ 'of-mine': 4_096 });
    await compactor.close();
  });

  runs('removes the reasoning of Anthropic behind an edit', async () => {
    const thinking = SCRIPT.map((step) => ({ reasoning: 'Hm.', ...step }));
    const provider = await startStrictProvider(thinking);
    const middleware = compactionMiddleware(openCompactor(), { edits: 'every-turn' });
    const model = sdk.wrapLanguageModel({ model: claude(provider), middleware });
    const stopWhen = sdk.stepCountIs(10);
    await sdk.generateText({ model, tools: mapTools(sdk), stopWhen, messages: [PICTURE] });
    const thoughts = provider.requests.map(({ body }) => {
      return (JSON.stringify(body['messages']).match(/"type":"thinking"/g) ?? []).length;
    });
    expect(thoughts).toEqual([0, 1, 0, 1]);
  });
});

const PROMPT: readonly SdkMessage[] = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: [{ type: 'text', ...{ text: 'Go.' } }] },
];
const MODEL = { provider: 'loopback', modelId: 'scripted' };

describe('compactionMiddleware', () => {
  it('passes the parameters on unchanged when nothing is to be edited', async () => {
    const { transformParams } = compactionMiddleware(openCompactor());
    const params = { prompt: PROMPT, temperature: 0.5 };
    expect(await transformParams({ params, model: MODEL })).toBe(params);
  });

  it('refuses a prompt that is no list, and does not take it for an empty one', async () => {
    const { transformParams } = compactionMiddleware(openCompactor());
    for (const prompt of [undefined, null, -0, 'x', {}]) {
      const params = { prompt: prompt as never };
      await expect(transformParams({ params, model: MODEL })).rejects.toThrow(
        'Expected an array of messages',
      );
    }
  });

  it('recognizes a prompt that was rebuilt', async () => {
    const names: string[] = [];
    const onSession = ({ sessionId }: Session): void => void names.push(sessionId);
    const { transformParams } = compactionMiddleware(openCompactor(), { onSession });
    await transformParams({ params: { prompt: PROMPT }, model: MODEL });
    const prompt = [...structuredClone(PROMPT), ...structuredClone(PROMPT.slice(1))];
    expect((await transformParams({ params: { prompt }, model: MODEL })).prompt).toEqual(prompt);
    expect(names).toHaveLength(1);
  });

  it("rejects with the abort reason of the call's signal", async () => {
    const { transformParams } = compactionMiddleware(openCompactor());
    const reason = new Error('enough');
    const params = { prompt: PROMPT, abortSignal: AbortSignal.abort(reason) };
    await expect(transformParams({ params, model: MODEL })).rejects.toBe(reason);
  });

  it('returns an answer whose usage cannot be read', async () => {
    const { wrapGenerate, wrapStream } = compactionMiddleware(openCompactor());
    const known = { params: {}, model: MODEL };
    const stream = new ReadableStream();
    stream.getReader();
    const streamed = { stream };
    expect(await wrapStream({ doStream: () => Promise.resolve(streamed), ...known })).toBe(
      streamed,
    );
    const answer = {
      get usage(): never {
        throw new Error('not yet');
      },
    };
    expect(await wrapGenerate({ doGenerate: () => Promise.resolve(answer), ...known })).toBe(
      answer,
    );
  });

  it('refuses invalid options when it is made', () => {
    const options: AdapterOptions = { maxConversations: 0 };
    expect(() => compactionMiddleware(openCompactor(), options)).toThrow(RangeError);
  });
});
