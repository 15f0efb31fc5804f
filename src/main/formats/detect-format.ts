// Tells a transcript's format by what is in it: by a record of JSON Lines, or by a whole document.

import { isClaudeCodeRecord } from './claude-code.js';
import { areClineMessages } from './cline.js';
import { isCodexRecord } from './codex.js';
import { isGeminiCliChat } from './gemini-cli.js';
import { asArray, asRecord } from '../../shared/json.js';
import { isMiniSweAgentTrajectory } from './mini-swe-agent.js';
import { isSweAgentTrajectory } from './swe-agent.js';
import type { TranscriptFormat } from './transcript.js';

/** The formats that are read line by line. */
export type LineFormat = Extract<TranscriptFormat, 'claude-code' | 'codex'>;

/** The formats that are one JSON document. */
export type DocumentFormat = Exclude<TranscriptFormat, LineFormat>;

export function isLineFormat(format: TranscriptFormat): format is LineFormat {
  return format === 'claude-code' || format === 'codex';
}

/** The format that has such a record, if one has. */
export function detectRecordFormat(value: unknown): LineFormat | undefined {
  const record = asRecord(value);
  if (record === undefined) return undefined;
  if (isCodexRecord(record)) return 'codex';
  return isClaudeCodeRecord(record) ? 'claude-code' : undefined;
}

/** The format of such a document, if it has a known one. */
export function detectDocumentFormat(value: unknown): DocumentFormat | undefined {
  const document = asRecord(value);
  if (document !== undefined) {
    if (isMiniSweAgentTrajectory(document)) return 'mini-swe-agent';
    if (isSweAgentTrajectory(document)) return 'swe-agent';
    if (isGeminiCliChat(document)) return 'gemini-cli';
  }
  const messages = asArray(Array.isArray(value) ? value : document?.['messages']);
  if (areClineMessages(messages)) return 'cline';
  const hasRoles = messages.some((message) => typeof asRecord(message)?.['role'] === 'string');
  return hasRoles ? 'openai-chat' : undefined;
}
