// Reads mini-swe-agent's trajectories (`*.traj.json`): chats in which the assistant writes one bash
// command into its text and the next user message holds its output.

import type { ContentBlock } from '../../shared/content.js';
import { ChatReader } from './chat-reader.js';
import type { Format } from './format.js';
import { runsCommands } from '../../shared/tool-catalog.js';
import {
  asFilledText,
  asRecord,
  asText,
  withoutUndefined,
  type JsonRecord,
} from '../../shared/json.js';

function isMiniSweAgentTrajectory(document: JsonRecord): boolean {
  const isTagged = asText(document['trajectory_format'])?.startsWith('mini-swe-agent') ?? false;
  const info = asRecord(document['info']);
  return Array.isArray(document['messages']) && (isTagged || info?.['mini_version'] !== undefined);
}

function miniSweAgentWorkspaceRoot(document: JsonRecord): string | undefined {
  const config = asRecord(asRecord(document['info'])?.['config']);
  return asFilledText(asRecord(config?.['environment'])?.['cwd']);
}

/** Reads the command from a text with exactly one bash block; the agent runs nothing for other texts. */
function readBashBlock(text: string): readonly ContentBlock[] | undefined {
  const block = findBashBlock(text, 0);
  if (block === undefined || findBashBlock(text, block.end) !== undefined) return undefined;
  return [
    { type: 'text', text: text.slice(0, block.start).trimEnd() },
    { type: 'text', text: text.slice(block.end).trim() },
    { type: 'tool_call', id: '', name: 'bash', parameters: { command: block.command } },
  ];
}

interface BashBlock {
  readonly command: string;
  readonly start: number;
  readonly end: number;
}

const BLOCK_END = '\n```';

/** Finds the end with `indexOf`: a regular expression for the whole block takes quadratic time on unclosed blocks. */
function findBashBlock(text: string, from: number): BashBlock | undefined {
  const opening = /```bash[ \t]*\r?\n/g;
  opening.lastIndex = from;
  const match = opening.exec(text);
  if (match === null) return undefined;
  const close = text.indexOf(BLOCK_END, opening.lastIndex);
  if (close === -1) return undefined;
  const command = text.slice(opening.lastIndex, close);
  return { command, start: match.index, end: close + BLOCK_END.length };
}

/** Returns a message with what the provider's response says about it. */
function withResponse(message: JsonRecord): JsonRecord {
  const { created, id, model, usage } = asRecord(asRecord(message['extra'])?.['response']) ?? {};
  return { ...message, ...withoutUndefined({ timestamp: created, id, model, usage }) };
}

/** Trajectories of mini-swe-agent; its only tool is the shell. */
export const MINI_SWE_AGENT: Format<'mini-swe-agent'> = {
  name: 'mini-swe-agent',
  toolCatalog: { bash: runsCommands() },
  document: { detect: isMiniSweAgentTrajectory, lists: ['messages'] },
  open: (history, document = {}) => {
    history.setWorkspaceRoot(miniSweAgentWorkspaceRoot(document));
    const reader = new ChatReader(history, { readTextCall: (_, text) => readBashBlock(text) });
    return {
      read: (message) => {
        reader.read(withResponse(message));
      },
    };
  },
};
