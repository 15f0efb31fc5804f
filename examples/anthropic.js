// An agent on the Anthropic SDK continues a long history. It has file tools, works in a temporary directory, and passes
// all of its messages to the SDK each time. The middleware compacts them.
//
//   node examples/anthropic.js
//
// The model is scripted and local, unless PROVIDER_URL names a server of the Messages API, with ANTHROPIC_API_KEY and
// MODEL.

import Anthropic from '@anthropic-ai/sdk';
import { createCompactor } from 'ctxfold';
import { compactionMiddleware } from 'ctxfold/anthropic';
import { DONE, MEND_PRICES, READ_PRICES } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { anthropicMessages } from './support/history-as/anthropic.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const MAX_REQUESTS = 20;

const SCRIPT = [
  { toolCalls: [{ name: 'search', input: { path: 'src', text: 'BULK_QUANTITY' } }] },
  READ_PRICES,
  MEND_PRICES,
  READ_PRICES,
  DONE,
];

const { PROVIDER_URL, ANTHROPIC_API_KEY = 'none', MODEL = 'claude-sonnet-5-5' } = process.env;
const provider =
  PROVIDER_URL === undefined ? await startScriptedProvider({ script: SCRIPT }) : undefined;
const workspace = await makeTemporaryWorkspace();
const compactor = createCompactor({ workspaceRoot: workspace.root });
let session;

const client = new Anthropic({
  apiKey: ANTHROPIC_API_KEY,
  baseURL: PROVIDER_URL ?? provider.url,
  middleware: [
    compactionMiddleware(compactor, {
      density: { toolCatalog: RECORDED_TOOL_CATALOG },
      onSession: (created) => {
        session = created;
      },
    }),
  ],
});

const tools = fileTools(workspace.root);

async function runTool({ id, name, input }) {
  const result = { type: 'tool_result', tool_use_id: id };
  try {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no tool ${name}.`);
    return { ...result, content: await tool.run(input) };
  } catch (error) {
    return { ...result, content: String(error), is_error: true };
  }
}

try {
  const messages = anthropicMessages(await recordedHistory());
  messages.push({
    role: 'user',
    content: 'The discount for ten pieces is missing. Please fix it.',
  });
  console.log(`history: ${messages.length} messages`);

  for (let request = 1; request <= MAX_REQUESTS; request += 1) {
    const { content } = await client.messages.create({
      model: MODEL,
      max_tokens: 2_000,
      tools: tools.map(({ name, description, inputSchema }) => {
        return { name, description, input_schema: inputSchema };
      }),
      messages,
    });
    if (request === 1) {
      const { uncompacted, sentTokens } = session.costs();
      console.log(`tokens before: ${uncompacted.sentTokens}`);
      console.log(`tokens after: ${sentTokens}`);
    }
    messages.push({ role: 'assistant', content });
    for (const { type, text } of content) if (type === 'text') console.log(`model: ${text}`);
    const calls = content.filter(({ type }) => type === 'tool_use');
    if (calls.length === 0) break;
    for (const { name } of calls) console.log(`tool: ${name}`);
    messages.push({ role: 'user', content: await Promise.all(calls.map(runTool)) });
  }

  const { requests, sentTokens, uncompacted } = session.costs();
  console.log(`${requests} requests: ${sentTokens} tokens instead of ${uncompacted.sentTokens}`);
  console.log(`messages that you keep: ${messages.length}`);
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
