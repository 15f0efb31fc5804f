// What the README's sample of getting results back finds around it: an agent that is asked by somebody whose id is a
// path, and a model that asks for the result which was taken away.

import { mkdirSync } from 'node:fs';

mkdirSync(process.env.WORKSPACE, { recursive: true });
process.chdir(process.env.WORKSPACE);

const conversationId = '../../escaped';
const agent = { tools: {} };
const messages = [
  ['call_1', 'read_file', 'what a.ts was'],
  ['call_2', 'write_file', 'done'],
].flatMap(([toolCallId, toolName, value]) => [
  {
    role: 'assistant',
    content: [{ type: 'tool-call', toolCallId, toolName, input: { file_path: 'a.ts' } }],
  },
  {
    role: 'tool',
    content: [{ type: 'tool-result', toolCallId, toolName, output: { type: 'text', value } }],
  },
]);

async function generateText({ tools, messages, prepareStep }) {
  await prepareStep({ model: 'scripted', messages, steps: [] });
  return { text: await tools.recall.execute({ id: 'call_1' }) };
}

async function finish(text) {
  console.log(text);
  await compactor.close();
}
