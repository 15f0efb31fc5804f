// Finds the messages that a provider needs unchanged: those with a call of its own tool whose result is in another message, such as
// the code execution that makes calls itself, with those calls, with calls whose results cannot be a text, and with what answers
// any of them.

/** The calls in a message, by their ids. */
export interface CallsInMessage {
  /** Calls that the application answers. */
  readonly calls: readonly unknown[];
  /** Calls of the provider's own tools. */
  readonly serverCalls: readonly unknown[];
  /** Calls whose results it has. */
  readonly answered: readonly unknown[];
  /** All calls that its other parts belong to. @default those whose results it has */
  readonly related?: readonly unknown[];
  /** Whether it uses OpenAI's computer, whose results are screenshots. */
  readonly usesComputer?: boolean;
  /** Whether it must be sent unchanged for another reason. */
  readonly isBound: boolean;
}

/** The calls of one conversation in messages that must be sent unchanged. */
export class PinnedCalls {
  readonly #ids = new Set<unknown>();

  /** Whether a message must be sent unchanged. To be called once for each message, in order. */
  pins(message: CallsInMessage): boolean {
    const { calls, serverCalls, answered, related = answered, usesComputer, isBound } = message;
    const made = new Set([...calls, ...serverCalls]);
    made.delete(undefined);
    const isPinned =
      isBound ||
      usesComputer === true ||
      serverCalls.some((id) => !answered.includes(id)) ||
      related.some((id) => !made.has(id) && this.#ids.has(id));
    for (const id of made) {
      if (isPinned) this.#ids.add(id);
      else this.#ids.delete(id);
    }
    return isPinned;
  }
}

/** The calls of a message that nothing but the use of a computer pins, so that it may go with their answers. */
export function callsWithComputer(message: CallsInMessage): readonly unknown[] | undefined {
  const { calls, serverCalls, usesComputer, isBound } = message;
  const isOnlyThat = usesComputer === true && !isBound && serverCalls.length === 0;
  return isOnlyThat && calls.length > 0 ? calls : undefined;
}
