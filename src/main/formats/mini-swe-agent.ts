// Reads mini-swe-agent's trajectories (`*.traj.json`): chats in which the assistant writes one bash
// command into its text and the next user message holds its output.

import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import { ChatReader } from './chat-reader.js';
import type { ChatDialect } from './chat-reader.js';
import type { Format } from './format.js';
import { runsCommands } from '../../shared/tool-catalog.js';
import {
  asFilledText,
  asRecord,
  asText,
  withoutUndefined,
  type JsonRecord,
} from '../../shared/json.js';
import { asTimestamp } from './timestamp.js';

function isMiniSweAgentTrajectory(document: JsonRecord): boolean {
  const isTagged = asText(document['trajectory_format'])?.startsWith('mini-swe-agent') ?? false;
  const info = asRecord(document['info']);
  return Array.isArray(document['messages']) && (isTagged || info?.['mini_version'] !== undefined);
}

function miniSweAgentWorkspaceRoot(document: JsonRecord): string | undefined {
  const config = asRecord(asRecord(document['info'])?.['config']);
  return asFilledText(asRecord(config?.['environment'])?.['cwd']);
}

const DIALECT: ChatDialect = {
  readTextCall: (_, text) => readBashBlock(text),
  readMetadata,
};

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

function readMetadata(message: JsonRecord): ContentMetadata {
  const response = asRecord(asRecord(message['extra'])?.['response']);
  return withoutUndefined({
    timestamp: asTimestamp(response?.['created']),
    id: asText(response?.['id']),
    model: asText(response?.['model']),
    usage: asRecord(response?.['usage']),
  });
}

/** Trajectories of mini-swe-agent; its only tool is the shell. */
export const MINI_SWE_AGENT: Format<'mini-swe-agent'> = {
  name: 'mini-swe-agent',
  toolCatalog: { bash: runsCommands() },
  document: { detect: isMiniSweAgentTrajectory, lists: ['messages'] },
  open: (history, document = {}) => {
    history.setWorkspaceRoot(miniSweAgentWorkspaceRoot(document));
    return new ChatReader(history, DIALECT);
  },
};
