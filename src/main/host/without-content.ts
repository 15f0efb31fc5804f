// What may be told of an error that code of the host or an SDK threw: it may carry a whole request.

const MAX_MESSAGE_LENGTH = 300;

/**
 * A copy of an error that holds its name, message and stack. SDK errors carry the whole request, and
 * a history has no place in a log.
 */
export function withoutContent(thrown: unknown): Error {
  const copy = new Error(messageOf(thrown));
  if (!(thrown instanceof Error)) return copy;
  copy.name = thrown.name;
  // The stack begins with the message, which may be long.
  copy.stack = `${thrown.name}: ${copy.message}${framesOf(thrown.stack)}`;
  return copy;
}

function messageOf(thrown: unknown): string {
  const message = thrown instanceof Error ? thrown.message : typeof thrown;
  const line = message.slice(0, MAX_MESSAGE_LENGTH).replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return line.trim() === '' ? 'no message' : line.trim();
}

function framesOf(stack: string | undefined): string {
  const start = stack?.indexOf('\n    at ') ?? -1;
  return stack === undefined || start === -1 ? '' : stack.slice(start);
}
