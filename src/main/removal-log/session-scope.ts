// Whose originals may be given back, and what is an id of a session: decided here for every way of getting
// something back. An id of a call is never what protects a result; it can be guessed.

/**
 * Whose originals are looked for: those of one session, or, by a word that nobody writes by accident, those of all.
 */
export type SessionScope =
  | { readonly sessionId: string; readonly acrossSessions?: false | undefined }
  | { readonly acrossSessions: true; readonly sessionId?: undefined };

/** @throws TypeError for a session id that is no string, or an empty one. */
export function assertSessionId(value: unknown): asserts value is string {
  if (typeof value === 'string' && value !== '') return;
  throw new TypeError(`Expected an id that is a text and not empty, got ${kindOf(value)}.`);
}

/** @throws TypeError for what names no session and does not ask for all of them, or does both. */
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

/** Whether what a session has recorded may be given back. */
export function isInScope(scope: SessionScope, sessionId: string): boolean {
  return scope.acrossSessions === true || scope.sessionId === sessionId;
}

function kindOf(value: unknown): string {
  if (value === '') return 'an empty text';
  return value === null ? 'null' : typeof value;
}
