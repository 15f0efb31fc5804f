// What is looked at of pi's messages and of the entries of its sessions. Types alone: pi is not imported, and any version
// of it that has these fields will do.

/** A part of a message: text, thinking, a tool call, an image. */
export interface PiPart {
  readonly type: string;
}

/** A message of pi's: of the user, the assistant, a tool, or one that pi makes itself. */
export interface PiMessage {
  readonly role: string;
}

/** What is read of a message once it is plain data: anything may be missing. */
export interface PiMessageFields extends PiMessage {
  readonly content?: string | readonly PiPart[];
  readonly timestamp?: number;
  readonly toolCallId?: string;
  readonly stopReason?: string;
  readonly summary?: string;
}

/** The fields of a message. */
export function fieldsOf(message: PiMessage): PiMessageFields {
  return message;
}

/** An answer that was cut off or failed: pi sends it to no model, nor what its calls were answered. */
export function isUnsent({ role, stopReason }: PiMessageFields): boolean {
  return role === 'assistant' && (stopReason === 'error' || stopReason === 'aborted');
}
