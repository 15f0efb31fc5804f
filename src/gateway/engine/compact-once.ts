// `POST /ctxfold/compact`: stateless, messages in, messages out. For gateways in any language that call a hook before a request.

import type { CompactorOptions } from '../../main/compactor-options.js';
import { createCompactor } from '../../main/compactor.js';
import type { Session } from '../../main/session.js';
import type { JsonRecord } from '../../shared/json.js';
import { findList, readList, readMessages } from '../body/list-in-body.js';
import type { ListInBody } from '../body/list-in-body.js';
import { assemble, piecesOf } from '../body/pieces.js';
import { compactsOf, reasonOf } from './adapters.js';
import { apiNamed } from './apis.js';
import type { ApiName } from './apis.js';
import type { OnceAnswer } from './protocol.js';

/** A list of messages, and the parsed messages. */
interface ReadList {
  readonly list: ListInBody;
  readonly messages: readonly object[];
}

/** The text of the compacted list, and its counted tokens before and after. */
interface CompactedList {
  readonly text: Uint8Array;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Why compaction failed; the list is unchanged then. */
  readonly error?: string | undefined;
}

const FORMATS = ['anthropic', 'responses', 'chat', 'gemini'] as const;
/** Names of the field with the messages: `messages` for any format, and those in providers' requests. */
const LISTS = ['messages', 'input', 'contents'] as const;

/** Answers a request body. Unedited messages keep their original text, because numbers may not survive parsing exactly. */
export async function compactOnce(
  body: Buffer,
  workspaceRoot: string | undefined,
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
  const { text, ...totals } = await compactList(format, given, model, {
    contextLimit,
    workspaceRoot,
  });
  const start = Buffer.from(`{"format":"${format}","messages":`);
  const end = Buffer.from(`,${JSON.stringify(totals).slice(1)}`);
  return { status: 200, body: Buffer.concat([start, text, end]) };
}

/** @throws SyntaxError if the body is not a JSON object */
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

async function compactList(
  api: ApiName,
  { list, messages }: ReadList,
  modelName: string | undefined,
  options: Pick<CompactorOptions, 'contextLimit' | 'workspaceRoot'>,
): Promise<CompactedList> {
  const compactor = createCompactor({ ...options, offload: 'inline' });
  try {
    let session: Session | undefined;
    const compacts = compactsOf(compactor, {
      // These messages will not be sent again, so there is no prompt cache to preserve.
      edits: 'every-turn',
      onError: 'throw',
      onSession: (made) => {
        session = made;
      },
    });
    const compacted = await compacts[api](messages, { modelName });
    const { sentTokens: tokensAfter = 0, uncompacted } = session?.costs() ?? {};
    const tokensBefore = uncompacted?.sentTokens ?? 0;
    return { text: textOfList(list, messages, compacted), tokensBefore, tokensAfter };
  } catch (thrown) {
    const text = list.bytes.subarray(list.start, list.end);
    return { text, tokensBefore: 0, tokensAfter: 0, error: reasonOf(thrown) };
  } finally {
    await compactor.close();
  }
}

/** The text of a list of messages after compaction. */
function textOfList(
  list: ListInBody,
  messages: readonly object[],
  compacted: readonly object[],
): Uint8Array {
  const { bytes, start, end } = list;
  const pieces = piecesOf(list, messages, compacted, new WeakMap());
  const body = pieces === undefined ? bytes : assemble(bytes, pieces);
  return body.subarray(start, body.length - (bytes.length - end));
}
