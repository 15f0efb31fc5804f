// `POST /ctxfold/compact`: stateless, messages in, messages out. For gateways in any language that call a hook before a request.

import type { JsonRecord } from '../../shared/json.js';
import { findList, readList, readMessages } from '../body/list-in-body.js';
import type { ListInBody } from '../body/list-in-body.js';
import { apiNamed } from './apis.js';
import type { ApiName } from './apis.js';
import type { OnceAnswer } from './protocol.js';

/** A list of messages, and the parsed messages. */
export interface ReadList {
  readonly list: ListInBody;
  readonly messages: readonly object[];
}

/** The text of the compacted list, and its counted tokens before and after. */
export interface CompactedList {
  readonly text: Uint8Array;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Why compaction failed; the list is unchanged then. */
  readonly error?: string | undefined;
}

/** Optional facts about the messages. */
export interface OnceOptions {
  readonly model: string | undefined;
  readonly contextLimit: number | undefined;
}

const FORMATS = ['anthropic', 'responses', 'chat', 'gemini'] as const;
/** Names of the field with the messages: `messages` for any format, and those in providers' requests. */
const LISTS = ['messages', 'input', 'contents'] as const;

/** Answers a request body. Unedited messages keep their original text, because numbers may not survive parsing exactly. */
export async function compactOnce(
  body: Buffer,
  compact: (api: ApiName, given: ReadList, options: OnceOptions) => Promise<CompactedList>,
): Promise<OnceAnswer> {
  let given: ReadList | undefined;
  try {
    given = readGiven(body);
  } catch {
    return refused('expected a JSON object.');
  }
  const fields = given?.list.fields ?? {};
  const format = formatOf(fields);
  const isList =
    format !== undefined && Array.isArray(fields['messages'] ?? fields[apiNamed(format).list[0]]);
  if (given === undefined || !isList) {
    return refused(
      `expected "messages", a list of objects in UTF-8, and as "format" one of ${FORMATS.join(', ')}.`,
    );
  }
  // Python clients write omitted fields as null.
  const model = fields['model'] ?? undefined;
  const contextLimit = fields['contextLimit'] ?? undefined;
  if (model !== undefined && typeof model !== 'string') {
    return refused('expected "model" to be a string.');
  }
  if (contextLimit !== undefined && !isLimit(contextLimit)) {
    return refused('expected "contextLimit" to be a number of tokens.');
  }
  const { text, ...totals } = await compact(format, given, { model, contextLimit });
  const start = Buffer.from(`{"format":"${format}","messages":`);
  const end = Buffer.from(`,${JSON.stringify(totals).slice(1)}`);
  return { status: 200, body: Buffer.concat([start, text, end]) };
}

/** @throws NotJsonError or SyntaxError if the body is not a JSON object */
function readGiven(body: Buffer): ReadList | undefined {
  for (const name of LISTS) {
    const start = findList(body, [name]);
    if (start === undefined) continue;
    const list = readList(body, start, [name], []);
    const messages = list && readMessages(list, []);
    return list && messages && { list, messages };
  }
  return undefined;
}

function refused(message: string): OnceAnswer {
  return { status: 400, body: Buffer.from(message) };
}

function isLimit(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

/** The format given, else the one implied by the field that holds the messages: the body may be a whole provider request. */
function formatOf(given: JsonRecord): ApiName | undefined {
  const format = given['format'] ?? undefined;
  if (format !== undefined) return FORMATS.find((name) => name === format);
  if (Array.isArray(given['input'])) return 'responses';
  return Array.isArray(given['contents']) ? 'gemini' : undefined;
}
