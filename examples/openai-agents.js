// An agent of OpenAI's Agents SDK continues a conversation of 500 messages. Its file tools are real and work in a
// temporary directory. The run keeps all of its items; a filter compacts what it sends.
//
//   node examples/openai-agents.js
//
// The model is scripted and local, unless PROVIDER_URL names a server of the Responses API, with OPENAI_API_KEY and
// MODEL.

import { Agent, OpenAIResponsesModel, run, setTracingDisabled, tool } from '@openai/agents';
import { createCompactor } from 'ctxfold';
import { callModelInputFilter } from 'ctxfold/openai';
import OpenAI from 'openai';
import { DONE, MEND_PRICES, READ_PRICES, TASK } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { resultText, textOf } from './support/history-as/block-text.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const MAX_TURNS = 20;

const SCRIPT = [READ_PRICES, MEND_PRICES, READ_PRICES, DONE];

const { PROVIDER_URL, OPENAI_API_KEY: apiKey = 'none', MODEL: model = 'gpt-5' } = process.env;
const provider =
  PROVIDER_URL === undefined ? await startScriptedProvider({ script: SCRIPT }) : undefined;
const workspace = await makeTemporaryWorkspace();
const client = new OpenAI({ apiKey, baseURL: `${PROVIDER_URL ?? provider.url}/v1` });

setTracingDisabled(true);

/** Converts a history to Agents SDK items, via Responses items. */
function agentItems(history) {
  return history.flatMap(({ speaker, blocks }) =>
    blocks.flatMap((block) => itemOf(block, speaker)),
  );
}

function itemOf(block, speaker) {
  const status = 'completed';
  switch (block.type) {
    case 'tool_call': {
      const { id: callId, name, parameters } = block;
      return { type: 'function_call', callId, name, arguments: JSON.stringify(parameters), status };
    }
    case 'tool_response': {
      const { callId, toolName: name } = block;
      return { type: 'function_call_result', callId, name, status, output: resultText(block) };
    }
    default: {
      const text = textOf(block);
      if (text === undefined) return [];
      if (speaker === 'human') return { role: 'user', content: text };
      return { role: 'assistant', status, content: [{ type: 'output_text', text }] };
    }
  }
}

const agent = new Agent({
  name: 'shop',
  instructions: 'You are a coding agent.',
  model: new OpenAIResponsesModel(client, model),
  tools: fileTools(workspace.root).map(({ name, description, inputSchema, run: execute }) =>
    tool({ name, description, parameters: inputSchema, strict: true, execute }),
  ),
});
agent.on('agent_tool_start', (_, { name }) => console.log(`tool: ${name}`));

const items = [...agentItems(await recordedHistory()), { role: 'user', content: TASK }];
console.log(`items: ${items.length}`);

const compactor = createCompactor({ workspaceRoot: workspace.root });
const filter = callModelInputFilter(compactor, { density: { toolCatalog: RECORDED_TOOL_CATALOG } });

try {
  const result = await run(agent, items, { callModelInputFilter: filter, maxTurns: MAX_TURNS });
  console.log(`model: ${result.finalOutput}`);

  const [{ givenMessages, sentMessages, costs }] = filter.report();
  const { requests, sentTokens, uncompacted } = costs;
  console.log(`items sent last: ${sentMessages} of ${givenMessages}`);
  console.log(`${requests} requests: ${uncompacted.sentTokens} tokens before, ${sentTokens} after`);
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
