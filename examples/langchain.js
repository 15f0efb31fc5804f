// A LangChain agent continues a long history. It has file tools, works in a temporary directory, and keeps its state in
// a checkpointer. The middleware compacts what the model is sent, not the state.
//
//   node examples/langchain.js
//
// The model is scripted and local, unless PROVIDER_URL names an OpenAI-compatible chat server, with OPENAI_API_KEY and
// MODEL.

import { tool } from '@langchain/core/tools';
import { MemorySaver } from '@langchain/langgraph';
import { createCompactor } from 'ctxfold';
import { compactionMiddleware } from 'ctxfold/langchain';
import { createAgent } from 'langchain';
import OpenAI from 'openai';
import { DONE, MEND_PRICES, READ_PRICES } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { chatMessages } from './support/history-as/openai-chat.js';
import { OpenAiChatModel } from './support/openai-chat-model.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const SCRIPT = [
  READ_PRICES,
  MEND_PRICES,
  DONE,
  READ_PRICES,
  { text: 'It does: the comparison includes ten.' },
];

const { PROVIDER_URL, OPENAI_API_KEY = 'none', MODEL = 'scripted' } = process.env;
const provider =
  PROVIDER_URL === undefined ? await startScriptedProvider({ script: SCRIPT }) : undefined;
const baseURL = `${PROVIDER_URL ?? provider.url}/v1`;
const client = new OpenAI({ apiKey: OPENAI_API_KEY, baseURL });

const workspace = await makeTemporaryWorkspace();
const compactor = createCompactor({ workspaceRoot: workspace.root });
let session;

const agent = createAgent({
  model: new OpenAiChatModel({ client, model: MODEL }),
  tools: fileTools(workspace.root).map(({ name, description, inputSchema, run }) =>
    tool((input) => run(input).catch(String), { name, description, schema: inputSchema }),
  ),
  checkpointer: new MemorySaver(),
  middleware: [
    compactionMiddleware(compactor, {
      density: { toolCatalog: RECORDED_TOOL_CATALOG },
      onSession: (created) => {
        session = created;
      },
    }),
  ],
});

const TASKS = [
  'The discount for ten pieces is missing. Please fix it.',
  'Does it begin at ten now? Please look.',
];

try {
  const thread = { configurable: { thread_id: 'shop' }, recursionLimit: 50 };
  const history = chatMessages(await recordedHistory());
  console.log(`history: ${history.length} messages`);

  for (const [at, content] of TASKS.entries()) {
    // After the first task, the checkpointer has the history.
    const before = at === 0 ? history : [];
    const { messages } = await agent.invoke(
      { messages: [...before, { role: 'user', content }] },
      thread,
    );
    const asked = messages.findLastIndex((message) => message.type === 'human');
    for (const message of messages.slice(asked + 1)) {
      if (message.type === 'tool') console.log(`tool: ${message.name}`);
      else if (message.text !== '') console.log(`model: ${message.text}`);
    }
    const { requests, sentTokens, uncompacted } = session.costs();
    console.log(`messages in the state: ${messages.length}`);
    console.log(`${requests} requests so far`);
    console.log(`tokens before: ${uncompacted.sentTokens}`);
    console.log(`tokens after: ${sentTokens}`);
  }
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
