// A reasoning agent on OpenAI's Responses API continues a conversation of 500 messages. Its file tools are real and
// work in a temporary directory. The agent keeps all of its items, nothing is stored at the provider, and each request
// is compacted.
//
//   node examples/openai-responses.js
//
// The model is scripted and local, unless PROVIDER_URL names a server of the Responses API, with OPENAI_API_KEY and
// MODEL.

import { createCompactor } from 'ctxfold';
import { inputCompactor } from 'ctxfold/openai';
import OpenAI from 'openai';
import { DONE, MEND_PRICES, READ_PRICES, TASK } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { responseItems } from './support/history-as/openai-responses.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const MAX_REQUESTS = 20;

const SCRIPT = [
  { reasoning: 'The rules are in src/price.js.', ...READ_PRICES },
  { reasoning: 'It says more than ten, and ten is meant.', ...MEND_PRICES },
  READ_PRICES,
  DONE,
];

const { PROVIDER_URL, OPENAI_API_KEY: apiKey = 'none', MODEL: model = 'gpt-5' } = process.env;
const provider =
  PROVIDER_URL === undefined ? await startScriptedProvider({ script: SCRIPT }) : undefined;
const workspace = await makeTemporaryWorkspace();
const client = new OpenAI({ apiKey, baseURL: `${PROVIDER_URL ?? provider.url}/v1` });

const files = fileTools(workspace.root);
const tools = files.map(({ name, description, inputSchema }) => ({
  type: 'function',
  name,
  description,
  parameters: inputSchema,
  strict: true,
}));

async function runTool({ call_id, name: called, arguments: text }) {
  const tool = files.find(({ name }) => name === called);
  const output = await Promise.resolve(text)
    .then((json) => JSON.parse(json))
    .then((input) => tool.run(input))
    .catch(String);
  return { type: 'function_call_output', call_id, output };
}

const items = [
  { role: 'developer', content: 'You are a coding agent.' },
  ...responseItems(await recordedHistory()),
  { role: 'user', content: TASK },
];
console.log(`items: ${items.length}`);

const compactor = createCompactor({ workspaceRoot: workspace.root });
const compact = inputCompactor(compactor, { density: { toolCatalog: RECORDED_TOOL_CATALOG } });

try {
  for (let request = 1; request <= MAX_REQUESTS; request += 1) {
    const { output, output_text: text } = await client.responses.create({
      model,
      tools,
      input: await compact(items, { modelName: model }),
      store: false,
      include: ['reasoning.encrypted_content'],
    });
    items.push(...output);
    if (text !== '') console.log(`model: ${text}`);
    const calls = output.filter(({ type }) => type === 'function_call');
    if (calls.length === 0) break;
    for (const { name } of calls) console.log(`tool: ${name}`);
    items.push(...(await Promise.all(calls.map(runTool))));
  }

  const [{ givenMessages, sentMessages, costs }] = compact.report();
  const { requests, sentTokens, uncompacted } = costs;
  console.log(`items sent last: ${sentMessages} of ${givenMessages}`);
  console.log(`${requests} requests: ${uncompacted.sentTokens} tokens before, ${sentTokens} after`);
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
