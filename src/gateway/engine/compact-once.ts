// `POST /ctxfold/compact`: stateless, messages in, messages out. For gateways in any language that call a hook before a request.

import { isRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { apiNamed } from './apis.js';
import type { ApiName } from './apis.js';
import type { OnceAnswer } from './protocol.js';

/** The compacted messages, with counted tokens before and after. */
export interface CompactedMessages {
  readonly messages: readonly unknown[];
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Why compaction failed; the messages are unchanged then. */
  readonly error?: string | undefined;
}

/** Optional facts about the messages. */
export interface OnceOptions {
  readonly model: string | undefined;
  readonly contextLimit: number | undefined;
}

const FORMATS = ['anthropic', 'responses', 'chat', 'gemini'] as const;

/** Answers a request body. */
export async function compactOnce(
  body: string,
  compact: (
    api: ApiName,
    messages: readonly unknown[],
    options: OnceOptions,
  ) => Promise<CompactedMessages>,
): Promise<OnceAnswer> {
  const given = tryParseJson(body);
  if (!isRecord(given)) return refusal('expected a JSON object.');
  const format = formatOf(given);
  const list = format === undefined ? undefined : apiNamed(format).list[0];
  const messages = given['messages'] ?? given[list ?? ''];
  if (format === undefined || !Array.isArray(messages)) {
    return refusal(`expected "messages", and as "format" one of ${FORMATS.join(', ')}.`);
  }
  const { model, contextLimit } = given;
  if (model !== undefined && typeof model !== 'string') {
    return refusal('expected "model" to be a string.');
  }
  if (contextLimit !== undefined && !isLimit(contextLimit)) {
    return refusal('expected "contextLimit" to be a number of tokens.');
  }
  const compacted = await compact(format, messages, { model, contextLimit });
  return { status: 200, body: Buffer.from(JSON.stringify({ format, ...compacted })) };
}

function refusal(message: string): OnceAnswer {
  return { status: 400, body: Buffer.from(message) };
}

function isLimit(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** The format given, else the one implied by the field that holds the messages: the body may be a whole provider request. */
function formatOf(given: JsonRecord): ApiName | undefined {
  const { format } = given;
  if (format !== undefined) return FORMATS.find((name) => name === format);
  if (Array.isArray(given['input'])) return 'responses';
  return Array.isArray(given['contents']) ? 'gemini' : undefined;
}
