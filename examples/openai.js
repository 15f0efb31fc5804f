// An agent on OpenAI's Chat Completions continues a conversation of 500 messages. Its file tools are real and work in a
// temporary directory. The agent keeps all of its messages and compacts them for each call.
//
//   node examples/openai.js
//
// The model is scripted and local, unless PROVIDER_URL names a Chat Completions server, with OPENAI_API_KEY and MODEL.

import { createCompactor } from 'ctxfold';
import { chatCompactor } from 'ctxfold/openai';
import OpenAI from 'openai';
import { DONE, MEND_PRICES, READ_PRICES, TASK } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { chatMessages } from './support/history-as/openai-chat.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const MAX_REQUESTS = 20;

const SCRIPT = [READ_PRICES, MEND_PRICES, READ_PRICES, DONE];

const { PROVIDER_URL, OPENAI_API_KEY: apiKey = 'none', MODEL: model = 'gpt-5' } = process.env;
const provider =
  PROVIDER_URL === undefined ? await startScriptedProvider({ script: SCRIPT }) : undefined;
const workspace = await makeTemporaryWorkspace();
const client = new OpenAI({ apiKey, baseURL: `${PROVIDER_URL ?? provider.url}/v1` });

const files = fileTools(workspace.root);
const tools = files.map(({ name, description, inputSchema }) => ({
  type: 'function',
  function: { name, description, parameters: inputSchema, strict: true },
}));

async function runTool({ id, function: called }) {
  const tool = files.find(({ name }) => name === called.name);
  const content = await Promise.resolve(called.arguments)
    .then((text) => JSON.parse(text))
    .then((input) => tool.run(input))
    .catch(String);
  return { role: 'tool', tool_call_id: id, content };
}

const messages = [
  { role: 'system', content: 'You are a coding agent.' },
  ...chatMessages(await recordedHistory()),
  { role: 'user', content: TASK },
];
console.log(`messages: ${messages.length}`);

const compactor = createCompactor({ workspaceRoot: workspace.root });
const compact = chatCompactor(compactor, { density: { toolCatalog: RECORDED_TOOL_CATALOG } });

try {
  for (let request = 1; request <= MAX_REQUESTS; request += 1) {
    const { choices } = await client.chat.completions.create({
      model,
      tools,
      messages: await compact(messages, { modelName: model }),
    });
    const { message } = choices[0];
    messages.push(message);
    if (message.content) console.log(`model: ${message.content}`);
    const calls = message.tool_calls ?? [];
    if (calls.length === 0) break;
    for (const call of calls) console.log(`tool: ${call.function.name}`);
    messages.push(...(await Promise.all(calls.map(runTool))));
  }

  const [{ givenMessages, sentMessages, costs }] = compact.report();
  const { requests, sentTokens, uncompacted } = costs;
  console.log(`messages sent last: ${sentMessages} of ${givenMessages}`);
  console.log(`${requests} requests: ${uncompacted.sentTokens} tokens before, ${sentTokens} after`);
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
