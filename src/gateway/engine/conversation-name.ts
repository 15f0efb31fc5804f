// Reads the conversation names that hosts send in headers or bodies. A name separates conversations but does not identify one:
// sub-agents use their parent's name, so messages decide which conversation a request continues.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** Headers with a conversation name, the most specific first. */
const HEADERS = [
  'thread-id',
  'session-id',
  'session_id',
  'x-session-id',
  'x-session-affinity',
  // The same name as in the body; requests that count tokens have it only here.
  'x-claude-code-session-id',
];

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
/** Names that are shown as they are. */
const PLAIN_NAME = /^[\w.:-]{1,64}$/;

/** Returns the conversation name in the headers, or `undefined`. */
export function nameInHeaders(headers: IncomingHttpHeaders): string | undefined {
  for (const name of HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return shownName(value);
  }
  return undefined;
}

/** Returns the conversation name in the fields of a body, or `undefined`. */
export function conversationName(fields: JsonRecord): string | undefined {
  const key = asText(fields['prompt_cache_key']) ?? asText(fields['session_id']);
  if (key !== undefined && key !== '') return shownName(key);
  const user = asText(asRecord(fields['metadata'])?.['user_id']);
  if (user === undefined) return undefined;
  // Claude Code's `user_id` holds user, account and session, in this order.
  const session = /session.*/s.exec(user)?.[0];
  return shownName((session && UUID.exec(session)?.[0]) ?? user);
}

/** Headers that hold a digest or a signature of the body. */
const OF_BODY =
  /^(?:content-md5|(?:content-|repr-)?digest|signature(?:-input)?|x-(?:\w+-)*(?:content-sha256|signature))$/;
/** Credentials that contain a signature, such as Amazon's. */
const SIGNED = /^(?:AWS4|[\w-]*HMAC|Signature\b)/i;

/** A reason to pass on a request: its body must not change, or the signature would no longer match. */
export const SIGNED_REQUEST = 'a signed request';

/** Returns why a request must be passed on, if its headers say so: it is signed, or no turn of its conversation. */
export function passesByHeaders(headers: IncomingHttpHeaders): string | undefined {
  const isSigned = SIGNED.test(headers.authorization ?? '');
  if (isSigned || Object.keys(headers).some((name) => OF_BODY.test(name))) return SIGNED_REQUEST;
  const metadata = headers['x-codex-turn-metadata'];
  if (typeof metadata !== 'string') return undefined;
  const kind = /"request_kind"\s*:\s*"(\w{1,32})"/.exec(metadata)?.[1];
  return kind === undefined || kind === 'turn' ? undefined : `a side call, ${kind}`;
}

/** Hashes names that are not plain: they may contain personal data, such as a mail address. */
function shownName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}
