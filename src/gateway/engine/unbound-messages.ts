// Takes the reasoning out of messages that the model may have made from other texts than those that are sent now: models that bind
// reasoning to them refuse each such request. Knows nothing of models.

import { isRecord } from '../../shared/json.js';
import { isFromModel } from './apis.js';
import type { Line } from './lines.js';

/** Of OpenRouter and LiteLLM. */
const FIELDS = ['reasoning_details', 'thinking_blocks'];

/** Remembers which conversations have left unedited. */
export class UnboundMessages {
  readonly #unedited = new WeakSet<Line>();
  /** Without its reasoning; `null` if nothing else is in it. The same object for each call. */
  readonly #copies = new WeakMap<object, object | null>();

  /** Notes that a conversation has left unedited so far. */
  note(line: Line): void {
    this.#unedited.add(line);
  }

  /**
   * Returns the messages of a conversation that are to be compacted: without reasoning where they left unedited until now, or where
   * what they left as is unknown.
   */
  of(line: Line, messages: readonly object[], isUnknown: boolean): readonly object[] {
    if (this.#unedited.delete(line) || isUnknown) line.unboundMessages = messages.length;
    if (line.unboundMessages === 0) return messages;
    return messages.flatMap((message, at) =>
      at < line.unboundMessages ? (this.#copyOf(message) ?? []) : message,
    );
  }

  #copyOf(message: object): object | null {
    const known = this.#copies.get(message);
    if (known !== undefined) return known;
    const copy = withoutReasoning(message);
    this.#copies.set(message, copy);
    return copy;
  }
}

function withoutReasoning(message: object): object | null {
  if (!isFromModel(message)) return message;
  const fields = Object.entries(message).filter(([name]) => !FIELDS.includes(name));
  const { content } = message as { readonly content?: unknown };
  const parts: unknown[] = Array.isArray(content) ? content : [];
  const kept = parts.filter((part) => !isReasoning(part));
  if (parts.length === kept.length)
    return fields.length === Object.keys(message).length ? message : Object.fromEntries(fields);
  return kept.length === 0 ? null : { ...Object.fromEntries(fields), content: kept };
}

function isReasoning(part: unknown): boolean {
  return isRecord(part) && /^(?:redacted_)?thinking$/.test(String(part['type']));
}
