// How hosts name their conversations, in headers or in the body of a request. A name tells conversations apart; which
// one a request goes on with, its messages say: sub-agents have the name of who sent them.

import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';

/** The one that is narrowest comes first. */
const HEADERS = ['thread-id', 'session-id', 'session_id', 'x-session-id', 'x-session-affinity'];

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/i;
/** What a page may show. */
const PLAIN_NAME = /^[\w.:-]{1,64}$/;

/** The name that headers give, or `undefined`. */
export function nameInHeaders(headers: IncomingHttpHeaders): string | undefined {
  for (const name of HEADERS) {
    const value = headers[name];
    if (typeof value === 'string' && value !== '') return shownName(value);
  }
  return undefined;
}

/** The name that stands beside the messages of a request, or `undefined`. */
export function conversationName(fields: JsonRecord): string | undefined {
  const key = asText(fields['prompt_cache_key']) ?? asText(fields['session_id']);
  if (key !== undefined && key !== '') return shownName(key);
  const user = asText(asRecord(fields['metadata'])?.['user_id']);
  if (user === undefined) return undefined;
  // Claude Code names the user, the account and, last, the session.
  const session = /session.*/s.exec(user)?.[0];
  return shownName((session && UUID.exec(session)?.[0]) ?? user);
}

/** Why a request is no turn of its conversation, where its headers say so. */
export function passesByHeaders(headers: IncomingHttpHeaders): string | undefined {
  const metadata = headers['x-codex-turn-metadata'];
  if (typeof metadata !== 'string') return undefined;
  const kind = /"request_kind"\s*:\s*"(\w{1,32})"/.exec(metadata)?.[1];
  return kind === undefined || kind === 'turn' ? undefined : `a side call, ${kind}`;
}

/** A name may hold anything, as the address of a user. */
function shownName(name: string): string {
  if (PLAIN_NAME.test(name)) return name;
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
}
