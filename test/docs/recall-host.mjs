// The globals of the sample that recalls results: an agent with a user whose id is a path, and a model that asks for
// the removed result.

import { mkdirSync } from 'node:fs';

/** Large enough for a batch of edits, so that the result is removed at once. */
const LINES = 12_000;

const steps = [
  ['call_1', 'read_file', 'what a.ts was\n'.repeat(LINES)],
  ['call_2', 'write_file', 'done'],
];

Object.assign(globalThis, {
  conversationId: '../../escaped',
  agent: { tools: {} },
  messages: steps.flatMap(([toolCallId, toolName, value]) => {
    const of = { toolCallId, toolName };
    const output = { type: 'text', value };
    return [
      { role: 'assistant', content: [{ type: 'tool-call', ...of, input: { file_path: 'a.ts' } }] },
      { role: 'tool', content: [{ type: 'tool-result', ...of, output }] },
    ];
  }),
  generateText: async ({ tools, messages, prepareStep }) => {
    mkdirSync(process.env.WORKSPACE, { recursive: true });
    process.chdir(process.env.WORKSPACE);
    await prepareStep({ model: 'scripted', messages, steps: [] });
    const original = await tools.recall.execute({ id: 'call_1' });
    return { text: original.length === 14 * LINES ? original.slice(0, 13) : original };
  },
});
