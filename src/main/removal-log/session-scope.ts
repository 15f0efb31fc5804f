// The sessions whose originals may be restored. Every way of restoring must check the scope: a call id does not
// protect a result, because it can be guessed.

import { kindOf } from '../../shared/misuse.js';

/** One session, or explicitly all. */
export type SessionScope =
  | { readonly sessionId: string; readonly acrossSessions?: false | undefined }
  | { readonly acrossSessions: true; readonly sessionId?: undefined };

/** @throws TypeError unless the session id is a non-empty string. */
export function assertSessionId(value: unknown): asserts value is string {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`Expected an id that is a text and not empty, got ${kindOf(value)}.`);
}

/** @throws TypeError unless the scope either names a session or asks for all. */
export function assertSessionScope(scope: unknown): asserts scope is SessionScope {
  const { sessionId, acrossSessions } = Object(scope) as Readonly<Record<string, unknown>>;
  if (acrossSessions === true && sessionId === undefined) return;
  if (acrossSessions === undefined || acrossSessions === false) {
    if (typeof sessionId === 'string' && sessionId !== '') return;
  }
  throw new TypeError(
    'Expected the session whose results may be given back, by its id, or acrossSessions: true for those of all.',
  );
}

/** Whether the records of a session may be restored. */
export function isInScope(scope: SessionScope, sessionId: string): boolean {
  return scope.acrossSessions === true || scope.sessionId === sessionId;
}
