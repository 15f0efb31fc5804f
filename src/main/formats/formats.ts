// The table of formats, and detection by trying each.

import { asArray, asRecord } from '../../shared/json.js';
import { AI_SDK } from './ai-sdk.js';
import { CLAUDE_CODE } from './claude-code.js';
import { CLINE } from './cline.js';
import { CODEX } from './codex.js';
import type { DocumentShape, Format } from './format.js';
import { GEMINI_CLI } from './gemini-cli.js';
import { MINI_SWE_AGENT } from './mini-swe-agent.js';
import { OPENAI_CHAT } from './openai-chat.js';
import { PI } from './pi.js';
import { SWE_AGENT } from './swe-agent.js';
import type { TranscriptFormat } from './transcript.js';

/** The formats by name, in the order in which detection tries them. */
export const FORMATS: { readonly [Name in TranscriptFormat]: Format<Name> } = {
  'claude-code': CLAUDE_CODE,
  codex: CODEX,
  pi: PI,
  // Before Gemini, whose messages have parts, too.
  'ai-sdk': AI_SDK,
  'gemini-cli': GEMINI_CLI,
  'mini-swe-agent': MINI_SWE_AGENT,
  'swe-agent': SWE_AGENT,
  cline: CLINE,
  // Accepts anything that has messages with the usual roles, so it comes last.
  'openai-chat': OPENAI_CHAT,
};

const ALL: readonly Format[] = Object.values(FORMATS);

/** Returns the format of a JSON Lines record, if it is a known one. */
export function detectRecordFormat(value: unknown): Format | undefined {
  const record = asRecord(value);
  return record && ALL.find((format) => format.detectRecord?.(record));
}

/** Returns the format of a parsed document, if it is a known one. */
export function detectDocumentFormat(value: unknown): Format | undefined {
  return ALL.find(({ document }) => {
    const messages = document && (listOf(value, document)?.messages ?? []);
    return messages && document.detect(asRecord(value) ?? {}, messages);
  });
}

/** Returns the list of messages of a document: the first non-empty list, else the first list; `undefined` if it has none. */
export function listOf(
  document: unknown,
  { lists }: DocumentShape,
): { readonly name: string; readonly messages: readonly unknown[] } | undefined {
  if (Array.isArray(document)) return { name: '', messages: asArray(document) };
  const found = lists.flatMap((name) => {
    const messages = asRecord(document)?.[name];
    return Array.isArray(messages) ? [{ name, messages: asArray(messages) }] : [];
  });
  return found.find(({ messages }) => messages.length > 0) ?? found[0];
}
