// What runs of AI SDK 6 and 7 report to their conversation: the usage of each answer, and refusals of a prompt.

import type { LanguageModel, ModelMessage, PrepareStepFunction } from 'ai';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { compactionMiddleware } from '../../../src/adapters/ai-sdk/compaction-middleware.js';
import { prepareStep } from '../../../src/adapters/ai-sdk/prepare-step.js';
import type { Session } from '../../../src/main/session.js';
import { startScriptedProvider } from '../../../examples/support/scripted-provider.js';
import type {
  ScriptedProviderOptions,
  ScriptedStep,
} from '../../../examples/support/scripted-provider.js';
import { chatModel, claude, mapTools, SDK_VERSIONS } from './sdk-versions.js';
import type { Sdk } from './sdk-versions.js';
import { openCompactor } from '../../support/open-compactor.js';

const read = (path: string): ScriptedStep => {
  return { toolCalls: [{ name: 'read_file', input: { file_path: path } }] };
};
const DONE: ScriptedStep = { text: 'Done.' };
const SCRIPT = [read('a.ts'), read('b.ts'), read('c.ts'), DONE];

const ASK: ModelMessage = { role: 'user', content: 'Read all.' };

async function startProvider(options: ScriptedProviderOptions) {
  const provider = await startScriptedProvider(options);
  onTestFinished(() => provider.close());
  return provider;
}

/** An `onSession` option, and the input tokens that are reported to its sessions. */
function listen() {
  const reported: number[] = [];
  const onSession = (session: Session): void => {
    vi.spyOn(session, 'reportUsage').mockImplementation(({ inputTokens }) => {
      reported.push(inputTokens);
      return 'learned';
    });
  };
  return { reported, onSession };
}

interface Run {
  readonly model: LanguageModel;
  readonly messages: ModelMessage[];
  readonly prepareStep: PrepareStepFunction<ReturnType<typeof mapTools>>;
}

describe.each(SDK_VERSIONS)('prepareStep in %s', (_, loaded) => {
  const runs = it.runIf(loaded !== undefined);
  const sdk = loaded as Sdk;

  /** Plays a run, and returns the messages of its answers, which have another name in version 7. */
  async function play(kind: 'generate' | 'stream', given: Run): Promise<readonly ModelMessage[]> {
    const run = { tools: mapTools(sdk), stopWhen: sdk.stepCountIs(10), ...given };
    const onError = (): void => undefined;
    const result =
      kind === 'generate' ? await sdk.generateText(run) : sdk.streamText({ ...run, onError });
    const { messages } = await result.response;
    const { responseMessages } = result as { responseMessages?: PromiseLike<ModelMessage[]> };
    return (await responseMessages) ?? messages;
  }

  describe.each(['generate', 'stream'] as const)('%s', (kind) => {
    runs('makes the next run fit after one was refused as too long', async () => {
      const limit = 6_000;
      const provider = await startProvider({
        script: () => DONE,
        check: ({ body }) => {
          const tokens = JSON.stringify(body['messages']).length;
          const isTooLong = tokens > limit;
          return isTooLong ? `prompt is too long: ${tokens} tokens > ${limit} maximum` : undefined;
        },
      });
      const prepare = prepareStep(openCompactor({ contextLimit: limit }));
      const messages: ModelMessage[] = [];
      for (let turn = 0; turn < 12; turn += 1) {
        messages.push({ role: 'user', content: `${turn} ${'one word '.repeat(100)}` });
        const given = [...messages];
        const run = { model: chatModel(provider), messages: given, prepareStep: prepare };
        messages.push(...(await play(kind, run).catch(() => play(kind, run))));
      }
      const statuses = provider.requests.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(12);
      expect(statuses).toContain(400);
    });

    runs(
      'reports the usage of each step once, also of the last one, in concurrent runs',
      async () => {
        const provider = await startProvider({
          script: ({ body }) => {
            const sent = body['messages'] as readonly ModelMessage[];
            const answers = sent.filter(({ role }) => role === 'assistant').length;
            return SCRIPT[answers % SCRIPT.length] ?? DONE;
          },
        });
        const { reported, onSession } = listen();
        const prepare = prepareStep(openCompactor(), { onSession });
        const talk = async (name: string): Promise<void> => {
          const content = `Read all for ${name.repeat(50)}.`;
          const messages: ModelMessage[] = [{ role: 'user', content }];
          for (let turn = 0; turn < 2; turn += 1) {
            const run = { model: chatModel(provider), messages: [...messages] };
            messages.push(...(await play(kind, { ...run, prepareStep: prepare })), ASK);
          }
        };
        await Promise.all([talk('one'), talk('another')]);
        const sizes = provider.requests.map(({ body }) =>
          Math.ceil(JSON.stringify(body).length / 4),
        );
        expect(sizes).toHaveLength(16);
        expect(reported.sort((one, other) => one - other)).toEqual(sizes.sort((one, other) => one - other)); // prettier-ignore
      },
    );
  });

  runs('leaves the usage to the middleware that the model is wrapped in', async () => {
    const [{ reported, onSession }, middle] = [listen(), listen()];
    const compactor = openCompactor();
    const middleware = compactionMiddleware(compactor, { onSession: middle.onSession });
    const inner = chatModel(await startProvider({ script: SCRIPT }));
    const model = sdk.wrapLanguageModel({ model: inner, middleware });
    const prepare = prepareStep(compactor, { onSession });
    await play('generate', { model, messages: [ASK], prepareStep: prepare });
    expect([reported.length, middle.reported.length]).toEqual([0, 4]);
  });

  runs('reports usage from the steps when an agent replaces the returned model', async () => {
    const { reported, onSession } = listen();
    const prepare = prepareStep(openCompactor(), { onSession });
    const model = chatModel(await startProvider({ script: SCRIPT }));
    await play('generate', {
      model,
      messages: [ASK],
      prepareStep: async (step) => ({ ...(await prepare(step)), model }),
    });
    expect(reported).toHaveLength(3);
  });

  runs('lets a step go to another model', async () => {
    const { reported, onSession } = listen();
    const prepare = prepareStep(openCompactor(), { onSession });
    const model = claude(await startProvider({ script: SCRIPT }));
    const unused = await startProvider({ script: [] });
    await play('generate', {
      model: chatModel(unused),
      messages: [ASK],
      prepareStep: async (step) => ({ model, ...(await prepare({ ...step, model })) }),
    });
    expect([unused.requests.length, reported.length]).toEqual([0, 4]);
  });
});
