// Thinking that the provider has refused, because it was made from other messages than those that are sent now: of a conversation
// that began without ctxfold, or whose edits by another process are not known.

import { createHash } from 'node:crypto';
import { isMessagePart, isReasoning } from './message-part.js';
import type { AnthropicMessage, MessagePart } from './message-part.js';

/** As the API says it. What follows may name the message that has changed. */
const BOUND_ELSEWHERE = /The block is bound to a different conversation/;

/** At most so many blocks are remembered. Of one that is forgotten, the provider is asked once more. */
const MAX_REFUSED = 10_000;

/** Remembers refused thinking, and leaves it out. */
export class RefusedThinking {
  /** Digests of what signs the blocks, oldest first. */
  readonly #refused = new Set<string>();
  /** By message, the same without refused thinking; `null` if nothing else is in it. */
  readonly #copies = new WeakMap<AnthropicMessage, AnthropicMessage | null>();

  /** Notes all thinking in these messages if an answer refuses thinking. Returns whether there is any that was not noted before. */
  note(answer: string, messages: readonly AnthropicMessage[]): boolean {
    if (!BOUND_ELSEWHERE.test(answer)) return false;
    const before = messages.flatMap(partsOf).filter(isReasoning).map(digestOf);
    const added = before.filter((digest) => !this.#refused.has(digest));
    for (const digest of added) this.#refused.add(digest);
    for (const digest of this.#refused) {
      if (this.#refused.size <= MAX_REFUSED) break;
      this.#refused.delete(digest);
    }
    return added.length > 0;
  }

  /** Returns the messages without refused thinking; the same list if there is none. */
  without(messages: readonly AnthropicMessage[]): readonly AnthropicMessage[] {
    if (this.#refused.size === 0) return messages;
    const left = messages.flatMap((message) => this.#without(message) ?? []);
    return messages.every((message, at) => message === left[at]) ? messages : left;
  }

  #without(message: AnthropicMessage): AnthropicMessage | null {
    const known = this.#copies.get(message);
    if (known !== undefined) return known;
    const parts = partsOf(message);
    const kept = parts.filter((part) => !isReasoning(part) || !this.#refused.has(digestOf(part)));
    if (kept.length === parts.length) return message;
    const copy = kept.length === 0 ? null : ({ ...message, content: kept } as AnthropicMessage);
    this.#copies.set(message, copy);
    return copy;
  }
}

function partsOf({ content }: AnthropicMessage): readonly MessagePart[] {
  return Array.isArray(content) ? (content as readonly unknown[]).filter(isMessagePart) : [];
}

function digestOf({ signature, data }: MessagePart): string {
  return createHash('sha256')
    .update(String(signature ?? data))
    .digest('base64');
}
