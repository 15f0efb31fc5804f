// A small agent for all deployments: a scripted model reads and writes files for 60 turns, with compaction before each call.
// Prints one line of JSON: a digest of what was sent, which is the same everywhere, and where the work ran. Imports only ctxfold.

import { createCompactor } from 'ctxfold';
import { chatCompactor } from 'ctxfold/openai';

const TURNS = 60;
/** FNV-1a, because bundles for other runtimes may lack `node:crypto`. */
function digestOf(text) {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}

function turnOf(turn) {
  const name = turn % 3 === 2 ? 'write_file' : 'read_file';
  const path = `src/file-${turn % 7}.ts`;
  const body = `export const value${turn} = '${'naïve 漢字 '.repeat(turn % 5)}';\n`.repeat(40);
  const given = name === 'write_file' ? { path, content: body } : { path };
  const call = { name, arguments: JSON.stringify(given) };
  return [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: `call_${turn}`, type: 'function', function: call }],
    },
    {
      role: 'tool',
      tool_call_id: `call_${turn}`,
      content: name === 'read_file' ? body : 'written',
    },
  ];
}

/** Plays the session. Resolves to what was sent and where the work ran. */
export async function playAgent() {
  const warnings = [];
  const logger = {
    debug: () => undefined,
    warn: (message) => warnings.push(message),
    error: (message) => warnings.push(message),
  };
  const compactor = createCompactor({ workspaceRoot: '/workspace', contextLimit: 40_000, logger });
  const compact = chatCompactor(compactor, { edits: 'every-turn' });
  const messages = [{ role: 'user', content: 'Look after the files.' }];
  const sent = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    sent.push(digestOf(JSON.stringify(await compact(messages))));
    messages.push(...turnOf(turn));
  }
  const [{ costs }] = compact.report();
  const { workerTasks, fallbacks } = compactor.stats();
  await compactor.close();
  return {
    result: { sent: digestOf(sent.join()), tokens: costs.sentTokens, requests: costs.requests },
    runs: workerTasks > 0 && fallbacks === 0 ? 'workers' : 'inline',
    warnings,
  };
}
