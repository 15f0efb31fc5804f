// Providers that bind reasoning to all that stands before it, by their documents: Claude refuses a request in which that has
// changed, GPT-6.2 drops the reasoning without a word. They check what they are sent, and answer nothing themselves.

import { createHash } from 'node:crypto';

/** A part of a request, in its order; of reasoning, what seals it. */
interface Part {
  readonly text: string;
  readonly seal?: string;
}

/** What was sealed: a hash of all but reasoning that stood before, and the seal of the reasoning before. */
interface Sealed {
  readonly prefix: string;
  readonly former: string | undefined;
}

/** Seals reasoning, and says of a request which of it is bound to something else. */
export class ReasoningSeals {
  readonly #sealed = new Map<string, Sealed>();

  /** Returns the seal of reasoning that follows on these parts. */
  seal(parts: readonly Part[]): string {
    const seal = `seal-${this.#sealed.size}`;
    const former = parts.findLast((part) => part.seal !== undefined)?.seal;
    this.#sealed.set(seal, { prefix: hashOf(parts), former });
    return seal;
  }

  /** The places of reasoning that stands behind something else than it was made from. */
  broken(parts: readonly Part[]): readonly number[] {
    let last: string | undefined;
    return parts.flatMap(({ seal }, at) => {
      if (seal === undefined) return [];
      const sealed = this.#sealed.get(seal);
      const isUnbroken = last === undefined || sealed?.former === last;
      last = seal;
      return isUnbroken && sealed?.prefix === hashOf(parts.slice(0, at)) ? [] : [at];
    });
  }
}

function hashOf(parts: readonly Part[]): string {
  const hash = createHash('sha256');
  for (const { text, seal } of parts) if (seal === undefined) hash.update(`${text}\0`);
  return hash.digest('hex');
}

/** The parts of messages of the Messages API, cache marks aside. */
export function partsOfMessages(messages: readonly unknown[]): readonly Part[] {
  return (messages as readonly { role: string; content: string | readonly object[] }[]).flatMap(
    ({ role, content }) =>
      (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => {
        const { cache_control: _, ...part } = block as Readonly<Record<string, unknown>>;
        const text = `${role} ${JSON.stringify(part)}`;
        return part['type'] === 'thinking' ? { text, seal: String(part['signature']) } : { text };
      }),
  );
}

/** The parts of items of the Responses API. */
export function partsOfItems(items: readonly unknown[]): readonly Part[] {
  return (items as readonly Readonly<Record<string, unknown>>[]).map((item) => {
    const text = JSON.stringify(item);
    if (item['type'] !== 'reasoning') return { text };
    return { text, seal: String(item['encrypted_content']) };
  });
}

/** Whether the turn of an open call has lost the thinking that all turns began with: it has to be sent as it was signed. */
export function cutsOpenTurn(messages: readonly unknown[]): boolean {
  const given = messages as readonly { role: string; content: string | readonly Block[] }[];
  const has = (at: number, type: string): boolean => {
    const content = given.at(at)?.content;
    return Array.isArray(content) && (content as Block[]).some((block) => block.type === type);
  };
  return has(-1, 'tool_result') && given.at(-2)?.role === 'assistant' && !has(-2, 'thinking');
}

interface Block {
  readonly type: string;
}
