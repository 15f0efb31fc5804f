// Names the removal log of a session. An id comes from outside: it must neither lead out of the
// directory nor name a device, whatever the system.

import { createHash } from 'node:crypto';
import { join } from 'node:path';

/** Lower case only, as some file systems do not tell `A` from `a`. */
const PLAIN_ID = /^[a-z0-9](?:[a-z0-9_-]{0,126}[a-z0-9])?$/;
/** Names of devices on Windows, with any extension. */
const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])$/;

/**
 * Returns the path of a session's removal log in a directory: `<id>.removals.jsonl`, or for an id that
 * is no safe name everywhere `sha256.<hex>.removals.jsonl`. Different ids have different paths, also
 * where names are compared without case.
 *
 * @throws TypeError for what is no text.
 */
export function removalLogPathIn(directory: string, sessionId: string): string {
  if (typeof sessionId !== 'string') {
    throw new TypeError(`Expected a session id that is a text, got ${typeof sessionId}.`);
  }
  const isPlain = PLAIN_ID.test(sessionId) && !DEVICE_NAME.test(sessionId);
  // A plain id holds no dot, so none is mistaken for a digest. UTF-16, as lone surrogates differ too.
  const name = isPlain
    ? sessionId
    : `sha256.${createHash('sha256').update(sessionId, 'utf16le').digest('hex')}`;
  return join(directory, `${name}.removals.jsonl`);
}
