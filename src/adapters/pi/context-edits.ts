// Converts the edits of a call to `context_edit` entries for pi's session file, by comparing the messages before and after. Returns all
// edits or none, because a file with only some of them would describe a conversation that was never sent.

import { fieldsOf } from './agent-message.js';
import type { PiMessage } from './agent-message.js';

/** A session entry that edits another one. */
export interface PiContextEdit {
  readonly type: 'context_edit';
  readonly targetId: string;
  /** `null` removes the message. */
  readonly replacement: { readonly content: PiContent } | null;
}

type PiContent = Exclude<ReturnType<typeof fieldsOf>['content'], undefined>;

/** A session entry, and the messages that pi makes of it. */
export interface PiContextEntry {
  readonly sourceEntry: { readonly id: string; readonly type: string };
  readonly messages: readonly PiMessage[];
}

/** An edited message. */
interface Edited {
  /** The index of the message among those given. */
  readonly at: number;
  /** The message that replaces it; `null` if it was removed. */
  readonly sent: PiMessage | null;
}

/** Roles of messages that pi can edit. */
const EDITABLE: ReadonlySet<string> = new Set(['user', 'assistant', 'toolResult', 'custom']);

/**
 * Returns the entries that turn pi's own messages into those that were sent.
 *
 * @param given the messages of the call
 * @param sent the compacted messages, in order
 * @param entries the session's entries, whose messages start with those of the call
 * @returns an empty list if any edit cannot be expressed: that of a message that pi cannot edit or that another extension has added, or
 *   a summary
 */
export function contextEdits(
  given: readonly PiMessage[],
  sent: readonly PiMessage[],
  entries: readonly PiContextEntry[],
): readonly PiContextEdit[] {
  const edited = editedMessages(given, sent);
  if (edited === undefined || edited.length === 0) return [];
  const own = entries.flatMap(({ sourceEntry, messages }) =>
    messages.map((message) => ({ sourceEntry, message, isWhole: messages.length === 1 })),
  );
  const conversation = own.filter(({ message }) => message.role !== 'system');
  if (!given.every((message, at) => isSameMessage(message, conversation[at]?.message))) return [];
  const edits: PiContextEdit[] = [];
  for (const { at, sent: message } of edited) {
    const target = conversation[at];
    const content = message === null ? null : fieldsOf(message).content;
    if (target?.isWhole !== true || content === undefined) return [];
    if (!EDITABLE.has(target.message.role)) return [];
    const replacement = content === null ? null : { content };
    edits.push({ type: 'context_edit', targetId: target.sourceEntry.id, replacement });
  }
  return edits;
}

/** Returns `undefined` if a sent message corresponds to none of those given. */
function editedMessages(
  given: readonly PiMessage[],
  sent: readonly PiMessage[],
): readonly Edited[] | undefined {
  const edited: Edited[] = [];
  const own = new Set(given);
  let next = 0;
  for (const [at, message] of given.entries()) {
    const candidate = sent[next];
    if (candidate === message) {
      next += 1;
    } else if (
      candidate !== undefined &&
      !own.has(candidate) &&
      isSameMessage(message, candidate)
    ) {
      edited.push({ at, sent: candidate });
      next += 1;
    } else {
      edited.push({ at, sent: null });
    }
  }
  return next === sent.length ? edited : undefined;
}

/** Whether two objects are the same message, edited or not: role, time and call id are equal. */
function isSameMessage(a: PiMessage, b: PiMessage | undefined): boolean {
  if (b === undefined) return false;
  const [one, other] = [fieldsOf(a), fieldsOf(b)];
  return (
    one.role === other.role &&
    one.timestamp === other.timestamp &&
    one.toolCallId === other.toolCallId
  );
}
