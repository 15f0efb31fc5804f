// A small agent with real file tools and a scripted model: it reads a file, changes it, reads it again. Shows how stale
// reads leave the history before each model call.
//
//   node examples/turn-loop.js

import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createCompactor, toolCall } from 'ctxfold';
import { TurnLoop } from 'ctxfold/turn-loop';

const workspaceRoot = await mkdtemp(join(tmpdir(), 'ctxfold-example-'));
await writeFile(join(workspaceRoot, 'greeting.txt'), 'Hello, world.\n'.repeat(200));

const tools = {
  read_file: ({ file_path }) => readFile(join(workspaceRoot, file_path), 'utf8'),
  write_file: async ({ file_path, content }) => {
    await writeFile(join(workspaceRoot, file_path), content);
    return `wrote ${content.length} characters`;
  },
};

// Stands in for a language model; its answers do not depend on what it is sent.
const script = [
  [{ type: 'tool_call', call: toolCall('1', 'read_file', { file_path: 'greeting.txt' }) }],
  [
    { type: 'text', text: 'I shorten it.' },
    {
      type: 'tool_call',
      call: toolCall('2', 'write_file', { file_path: 'greeting.txt', content: 'Hello.\n' }),
    },
  ],
  [{ type: 'tool_call', call: toolCall('3', 'read_file', { file_path: 'greeting.txt' }) }],
  [{ type: 'text', text: 'The greeting is short now.' }],
];
const model = {
  name: 'scripted',
  async *stream() {
    yield* script.shift() ?? [];
  },
};

const compactor = createCompactor({ workspaceRoot });
try {
  const session = await compactor.createSession();
  const loop = new TurnLoop({ session, model, tools });
  for await (const event of loop.sendMessageStream('Please shorten the greeting.')) {
    if (event.type === 'preflight') {
      const { pruned, totalTokens } = event.result;
      const stale = pruned?.metadata.readWritePairsPruned ?? 0;
      console.log(`before the model call: ${totalTokens} tokens, stale reads removed: ${stale}`);
    } else if (event.type === 'tool-responses') {
      for (const { toolName } of event.content.blocks) console.log(`tool: ${toolName}`);
    } else if (event.type === 'chunk' && event.chunk.type === 'text') {
      console.log(`model: ${event.chunk.text}`);
    }
  }
  console.log(`entries left: ${session.history.length}`);
} finally {
  await compactor.close();
  await rm(workspaceRoot, { recursive: true });
}
