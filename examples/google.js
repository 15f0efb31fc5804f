// An agent on Google's GenAI SDK continues a long history. It has file tools, works in a temporary directory, and
// compacts its contents before each request.
//
//   node examples/google.js
//
// The model is scripted and local, unless PROVIDER_URL names a server of the Gemini API, with GEMINI_API_KEY and MODEL.

import { GoogleGenAI } from '@google/genai';
import { createCompactor } from 'ctxfold';
import { contentsCompactor } from 'ctxfold/google';
import { DONE, MEND_PRICES, READ_PRICES } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { geminiContents } from './support/history-as/gemini.js';
import { RECORDED_TOOL_CATALOG, recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const MAX_REQUESTS = 20;

const SCRIPT = [
  {
    toolCalls: [
      { name: 'read_file', input: { file_path: 'src/cart.js' } },
      { name: 'read_file', input: { file_path: 'src/price.js' } },
    ],
  },
  MEND_PRICES,
  READ_PRICES,
  DONE,
];

const { PROVIDER_URL, GEMINI_API_KEY = 'none', MODEL = 'gemini-3-flash' } = process.env;
const provider =
  PROVIDER_URL === undefined
    ? await startScriptedProvider({ script: SCRIPT, callIds: false })
    : undefined;
const baseUrl = PROVIDER_URL ?? provider.url;
const client = new GoogleGenAI({ apiKey: GEMINI_API_KEY, httpOptions: { baseUrl } });

const workspace = await makeTemporaryWorkspace();
const tools = fileTools(workspace.root);
const functionDeclarations = tools.map(({ name, description, inputSchema }) => {
  return { name, description, parametersJsonSchema: inputSchema };
});

const compactor = createCompactor({ workspaceRoot: workspace.root });
let session;
const compact = contentsCompactor(compactor, {
  density: { toolCatalog: RECORDED_TOOL_CATALOG },
  onSession: (created) => {
    session = created;
  },
});

async function runTool({ id, name, args }) {
  const answer = (response) => ({ functionResponse: { id, name, response } });
  try {
    const tool = tools.find((one) => one.name === name);
    if (tool === undefined) throw new Error(`There is no function ${name}.`);
    return answer({ output: await tool.run(args) });
  } catch (error) {
    return answer({ error: String(error) });
  }
}

try {
  const contents = geminiContents(await recordedHistory());
  const task = 'The discount for ten pieces is missing. Please fix it.';
  contents.push({ role: 'user', parts: [{ text: task }] });
  console.log(`history: ${contents.length} contents`);

  for (let request = 1; request <= MAX_REQUESTS; request += 1) {
    const { candidates } = await client.models.generateContent({
      model: MODEL,
      contents: await compact(contents, { modelName: MODEL }),
      config: { tools: [{ functionDeclarations }] },
    });
    if (request === 1) {
      const { uncompacted, sentTokens } = session.costs();
      console.log(`tokens before: ${uncompacted.sentTokens}`);
      console.log(`tokens after: ${sentTokens}`);
    }
    // Keep the whole content: its parts carry the signatures that the model needs back.
    const { content } = candidates[0];
    contents.push(content);
    for (const { text, thought } of content.parts) {
      if (text !== undefined && thought !== true) console.log(`model: ${text}`);
    }
    const calls = content.parts.flatMap(({ functionCall }) => functionCall ?? []);
    if (calls.length === 0) break;
    for (const { name } of calls) console.log(`tool: ${name}`);
    contents.push({ role: 'user', parts: await Promise.all(calls.map(runTool)) });
  }

  const { requests, sentTokens, uncompacted } = session.costs();
  console.log(`${requests} requests: ${sentTokens} tokens instead of ${uncompacted.sentTokens}`);
  console.log(`contents that you keep: ${contents.length}`);
} finally {
  await compactor.close();
  await workspace.remove();
  await provider?.close();
}
