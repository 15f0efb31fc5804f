// Runs of the real Agents SDK with both of its models, and a provider that refuses what breaks a rule.

import {
  Agent,
  MemorySession,
  OpenAIChatCompletionsModel,
  OpenAIResponsesModel,
  run,
  setTracingDisabled,
  tool,
} from '@openai/agents';
import type { AgentInputItem, AgentOutputType, CallModelInputFilter } from '@openai/agents';
import OpenAI from 'openai';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AdapterOptions } from '../../../src/adapters/request/adapter-options.js';
import { callModelInputFilter } from '../../../src/adapters/openai/call-model-input-filter.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { Session } from '../../../src/main/session.js';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { sample } from '../../support/scale.js';
import { startStrictProvider } from '../../support/strict-provider.js';
import { scriptedWork, SUMMARY, TIGHT_COMPACTORS, workspaceTools } from './scripted-work.js';
import { openCompactor } from '../../support/open-compactor.js';

const ANSWERS = 25;
const CASES: readonly (readonly [Api, 'answers' | 'streams'])[] = [
  ['Responses', 'streams'],
  ['Responses', 'answers'],
  ['Chat Completions', 'answers'],
  ['Chat Completions', 'streams'],
];

beforeAll(() => setTracingDisabled(true));

function filterFor(options: AdapterOptions, compactorOptions: CompactorOptions = {}) {
  return callModelInputFilter(openCompactor(compactorOptions), options);
}

type Api = 'Responses' | 'Chat Completions';

async function agentOf({ url }: ScriptedProvider, api: Api): Promise<Agent> {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0 });
  const model =
    api === 'Responses'
      ? new OpenAIResponsesModel(client, 'scripted')
      : new OpenAIChatCompletionsModel(client, 'scripted');
  const tools = (await workspaceTools()).map(({ name, description, inputSchema, run: use }) =>
    tool({
      name,
      description,
      parameters: { ...inputSchema, properties: { ...inputSchema.properties } },
      strict: true,
      execute: (input) => use(input as Record<string, string>),
    }),
  );
  return new Agent({ name: 'tidy', instructions: 'You are a coding agent.', model, tools });
}

const TASK = 'Tidy up the shop.';

/** Returns items as `OpenAIConversationsSession` does: with other ids, parts instead of texts, and results without their tool. */
class RebuildingSession extends MemorySession {
  override async getItems(limit?: number): Promise<AgentInputItem[]> {
    return (await super.getItems(limit)).map(rebuilt);
  }
}

function rebuilt(item: AgentInputItem, at: number): AgentInputItem {
  const id = String(at);
  switch (item.type) {
    case 'function_call':
      return { ...item, id: `fc_${id}` };
    case 'function_call_result': {
      const { callId, output } = item;
      const text = typeof output === 'object' && 'text' in output ? output.text : output;
      return { ...item, id: `fco_${id}`, name: callId, output: text };
    }
    case 'message':
    case undefined: {
      if (item.role !== 'user' || typeof item.content !== 'string') return item;
      const content = [{ type: 'input_text' as const, text: item.content }];
      return { ...item, type: 'message', id: `msg_${id}`, content };
    }
    default:
      return item;
  }
}

describe('callModelInputFilter', () => {
  it.each(sample(CASES, 1))(
    'sends pruned requests that %s accept, in a run that %s',
    async (api, way) => {
      const provider = await startStrictProvider(scriptedWork(ANSWERS));
      const agent = await agentOf(provider, api);
      const filter = filterFor({ edits: 'every-turn' });
      const options = { callModelInputFilter: filter, maxTurns: ANSWERS };
      const result =
        way === 'streams'
          ? await run(agent, TASK, { ...options, stream: true })
          : await run(agent, TASK, options);
      if ('completed' in result) await result.completed;
      expect(result.finalOutput).toBe('All done.');
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      const [report, ...others] = filter.report();
      expect(others).toEqual([]);
      expect(report?.givenMessages).toBe(result.history.length - 1);
      expect(report!.sentMessages).toBeLessThan(result.history.length * 0.75);
    },
  );

  it.each(sample(TIGHT_COMPACTORS, 1))(
    'sends requests that the provider accepts while it compresses by %s',
    async (_, tight) => {
      const provider = await startStrictProvider(scriptedWork(ANSWERS));
      const filter = filterFor({}, tight);
      const agent = await agentOf(provider, 'Responses');
      const { history } = await run(agent, TASK, {
        callModelInputFilter: filter,
        maxTurns: ANSWERS,
      });
      expect(provider.requests.map(({ status }) => status)).toEqual(Array(ANSWERS).fill(200));
      expect(filter.report()[0]?.sentMessages).toBeLessThan(history.length * 0.6);
      const isSummarized = provider.requests.some(({ body }) =>
        JSON.stringify(body).includes(SUMMARY),
      );
      expect(isSummarized).toBe(tight.summarizer !== undefined);
    },
  );

  it('does not change the items of a session and of a run', async () => {
    const provider = await startStrictProvider([...scriptedWork(9), ...scriptedWork(9)]);
    const agent = await agentOf(provider, 'Responses');
    const session = new MemorySession();
    const filter = filterFor({ edits: 'every-turn' });
    const options = { callModelInputFilter: filter, maxTurns: 10, session };
    await run(agent, TASK, options);
    const first = await session.getItems();
    await run(agent, 'And again.', options);
    const all = await session.getItems();
    expect(filter.report().at(-1)!.sentMessages).toBeLessThan(all.length - 1);
    expect(all.slice(0, first.length)).toEqual(first);
    const asked = all.filter((item) => 'role' in item && item.role === 'user');
    expect(asked).toMatchObject([{ content: TASK }, { content: 'And again.' }]);
    expect(all.filter(({ type }) => type === 'function_call_result')).toHaveLength(24);
  });

  it.each([
    ['has calls without their ids', MemorySession],
    ['the service has rebuilt', RebuildingSession],
  ])("continues one conversation with a session's items, which %s", async (_, Session) => {
    const provider = await startStrictProvider([...scriptedWork(9), ...scriptedWork(9)]);
    const agent = await agentOf(provider, 'Responses');
    const filter = filterFor({ edits: 'every-turn' });
    const options = { callModelInputFilter: filter, maxTurns: 10, session: new Session() };
    await run(agent, TASK, options);
    await run(agent, 'And again.', options);
    expect(filter.report()).toHaveLength(1);
  });

  it.each([
    ['by its name', 'gpt-6.2-sol'],
    [
      'as one of the Responses API',
      new OpenAIResponsesModel(new OpenAI({ apiKey: 'none' }), 'gpt-6.2-sol'),
    ],
  ])('reads the model of an agent that is given %s', async (_, model) => {
    const sessions: Session[] = [];
    const filter = filterFor({ onSession: (session) => void sessions.push(session) });
    const agent = new Agent<unknown, AgentOutputType>({ name: 'a', model });
    const modelData = { input: [{ role: 'user', content: 'go' }] };
    await filter({ modelData, agent });
    expect(sessions.map(({ history }) => history.modelName)).toEqual(['gpt-6.2-sol']);
  });

  it('is a filter of the SDK with the option for original items, and keeps the rest of the request', async () => {
    const filter = filterFor({});
    const typed: CallModelInputFilter = filter;
    expect(filter.preserveInputIdentity).toBe(true);
    const item: AgentInputItem = { role: 'user', content: 'go' };
    const modelData = { input: [item], instructions: 'Be brief.' };
    const agent = new Agent<unknown, AgentOutputType>({ name: 'a', model: 'gpt-5' });
    const sent = await typed({ modelData, agent, context: undefined });
    expect(sent).toEqual(modelData);
    expect(sent.input[0]).toBe(item);
  });
});
