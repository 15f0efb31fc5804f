// One long history out of recorded sessions: one job after another, as if all of them had been given to
// one agent. Reads by the public API, and changes nothing but what no provider would take.

import { fileURLToPath } from 'node:url';
import { agentPreset, extendToolCatalog } from 'ctxfold';
import { readTranscript } from 'ctxfold/transcripts';

const SESSIONS = [
  'claude-code-remove-command.jsonl',
  'claude-code-lint-errors.jsonl',
  'claude-code-slow-prompt.jsonl',
  'claude-code-pr-review.jsonl',
  'gemini-cli-playground.json',
  'gemini-cli-dark-mode.json',
  'claude-code-publish-plugin.jsonl',
];

/** What the tools of the recorded agents do to files: for `density.toolCatalog` of an adapter or a session. */
export const RECORDED_TOOL_CATALOG = extendToolCatalog(
  agentPreset('gemini-cli').toolCatalog,
  agentPreset('claude-code').toolCatalog,
);

const MESSAGES = Number(process.env.HISTORY_MESSAGES ?? 500);

/** See `recorded-history.d.ts`. */
export async function recordedHistory({ messages = MESSAGES, reasoning = 'none' } = {}) {
  const history = [];
  for (const name of SESSIONS) {
    const path = fileURLToPath(new URL(`../sessions/${name}`, import.meta.url));
    const { entries } = await readTranscript(path);
    history.push(...finishedWork(entries.flatMap((entry) => sendable(entry, reasoning))));
    const end = endOf(history, messages);
    if (end !== undefined) return history.slice(0, end);
  }
  throw new RangeError(
    `Expected at most ${countMessages(history)} messages, as many as are recorded, got ${messages}.`,
  );
}

/** The entry without reasoning that cannot be given back; nothing when nothing else is in it. */
function sendable(entry, reasoning) {
  const blocks = entry.blocks.filter(
    (block) =>
      block.type !== 'thinking' || (reasoning === 'signed' && block.signature !== undefined),
  );
  if (!blocks.some(({ type }) => type !== 'thinking')) return [];
  return [blocks.length === entry.blocks.length ? entry : { ...entry, blocks }];
}

/** The entries up to the last one in which the agent says something and calls nothing. */
function finishedWork(entries) {
  return entries.slice(0, entries.findLastIndex(isLastWord) + 1);
}

/** The first place behind `messages` messages at which the agent has said its last word. */
function endOf(history, messages) {
  let count = 0;
  for (const [at, entry] of history.entries()) {
    if (startsMessage(history, at)) count += 1;
    if (count >= messages && isLastWord(entry)) return at + 1;
  }
  return undefined;
}

function isLastWord({ speaker, blocks }) {
  return speaker === 'ai' && blocks.every(({ type }) => type !== 'tool_call');
}

function countMessages(history) {
  return history.filter((_, at) => startsMessage(history, at)).length;
}

/** Whether a message begins there for the APIs that count the fewest: those in which roles alternate. */
function startsMessage(history, at) {
  const before = history[at - 1];
  return before === undefined || (before.speaker === 'ai') !== (history[at].speaker === 'ai');
}
