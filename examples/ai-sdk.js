// An AI SDK agent continues a conversation of 500 messages. Its file tools are real and work in a temporary directory;
// the model is scripted, or an OpenAI-compatible chat API at PROVIDER_URL. Shows how compaction changes the messages
// before each call.
//
//   node examples/ai-sdk.js

import { subscribe } from 'node:diagnostics_channel';
import { rmSync } from 'node:fs';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { generateText, jsonSchema, stepCountIs, tool } from 'ai';
import { DONE, MEND_PRICES, READ_PRICES, TASK } from './support/discount-task.js';
import { fileTools } from './support/file-tools.js';
import { modelMessages } from './support/history-as/ai-sdk.js';
import { recordedHistory } from './support/recorded-history.js';
import { startScriptedProvider } from './support/scripted-provider.js';
import { makeTemporaryWorkspace } from './support/temporary-workspace.js';

const script = [READ_PRICES, MEND_PRICES, READ_PRICES, DONE];

const workspace = await makeTemporaryWorkspace();
process.once('exit', () => rmSync(workspace.root, { recursive: true, force: true }));
const { PROVIDER_URL } = process.env;
const provider = PROVIDER_URL === undefined ? await startScriptedProvider({ script }) : undefined;
const baseURL = `${PROVIDER_URL ?? provider.url}/v1`;

/** The agent's fixed settings. */
const agent = {
  model: createOpenAICompatible({ name: 'loopback', baseURL }).chatModel('scripted'),
  tools: Object.fromEntries(
    fileTools(workspace.root).map(({ name, description, inputSchema, run }) => [
      name,
      tool({ description, inputSchema: jsonSchema(inputSchema), execute: run }),
    ]),
  ),
  stopWhen: stepCountIs(20),
};
const messages = [...modelMessages(await recordedHistory()), { role: 'user', content: TASK }];

console.log(`messages: ${messages.length}`);
subscribe('ctxfold:compaction', ({ step, tokensBefore, tokensAfter }) => {
  console.log(`${step}: ${tokensBefore} tokens before, ${tokensAfter} after`);
});

// #region five lines
import { createCompactor } from 'ctxfold';
import { prepareStep } from 'ctxfold/ai-sdk';

const compactor = createCompactor();
const { steps } = await generateText({ ...agent, messages, prepareStep: prepareStep(compactor) });
await compactor.close();
// #endregion

for (const { toolCalls, text, usage } of steps) {
  const calls = toolCalls.map(({ toolName, input }) => `${toolName} ${input.file_path}`);
  console.log(`${usage.inputTokens} input tokens: ${[text, ...calls].filter(Boolean).join(' ')}`);
}
await provider?.close();
