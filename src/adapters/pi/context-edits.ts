// Which edits of a call pi's session file is to hold: they are found by comparing what pi gave with what was sent, and
// become entries `context_edit` of pi's own. All of them or none: a file that held some would tell of a conversation that never was.

import { fieldsOf } from './agent-message.js';
import type { PiMessage } from './agent-message.js';

/** An entry that edits another one of the session's. */
export interface PiContextEdit {
  readonly type: 'context_edit';
  readonly targetId: string;
  /** `null` leaves the message out. */
  readonly replacement: { readonly content: PiContent } | null;
}

type PiContent = Exclude<ReturnType<typeof fieldsOf>['content'], undefined>;

/** An entry of the session's, and the messages that it stands for. */
export interface PiContextEntry {
  readonly sourceEntry: { readonly id: string; readonly type: string };
  readonly messages: readonly PiMessage[];
}

/** A message that was edited: its place among those given, and what was sent in its place. */
interface Edited {
  readonly at: number;
  readonly sent: PiMessage | null;
}

/** What pi lets an entry edit. */
const EDITABLE: ReadonlySet<string> = new Set(['user', 'assistant', 'toolResult', 'custom']);

/**
 * Returns the entries that have pi's own messages be those that were sent.
 *
 * @param given the messages of the call
 * @param sent what was sent in their place, in their order
 * @param entries the session's, with its messages as the call had them in front
 * @returns none when an edit cannot be told so: of what pi edits not, of messages that another extension put in, of a summary
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

/** Returns `undefined` when something was sent that stands for no message. */
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

/** Whether two messages are the same one, edited or not. */
function isSameMessage(a: PiMessage, b: PiMessage | undefined): boolean {
  if (b === undefined) return false;
  const [one, other] = [fieldsOf(a), fieldsOf(b)];
  return (
    one.role === other.role &&
    one.timestamp === other.timestamp &&
    one.toolCallId === other.toolCallId
  );
}
