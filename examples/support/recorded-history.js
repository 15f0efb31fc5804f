// One long history made of recorded sessions, one job after another, as if one agent had done all of them. Uses the
// public API, and changes only what providers would refuse.

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

/** What the recorded agents' tools do to files, for `density.toolCatalog`. */
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

/** The entry without reasoning that cannot be sent back, as a list; empty if nothing is left. */
function sendable(entry, reasoning) {
  const blocks = entry.blocks.filter(
    (block) =>
      block.type !== 'thinking' || (reasoning === 'signed' && block.signature !== undefined),
  );
  if (!blocks.some(({ type }) => type !== 'thinking')) return [];
  return [blocks.length === entry.blocks.length ? entry : { ...entry, blocks }];
}

/** The entries up to the last one in which the agent speaks without calls. */
function finishedWork(entries) {
  return entries.slice(0, entries.findLastIndex(isLastWord) + 1);
}

/** The first end of a job after `messages` messages. */
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

/** Whether a new message starts there in the APIs with alternating roles, which count the fewest. */
function startsMessage(history, at) {
  const before = history[at - 1];
  return before === undefined || (before.speaker === 'ai') !== (history[at].speaker === 'ai');
}
