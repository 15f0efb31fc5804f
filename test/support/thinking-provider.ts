// Providers that bind reasoning to its prefix, as documented: Claude refuses a request whose prefix has changed, GPT-6.2
// silently drops the reasoning. They only check requests; they return no answers.

import { createHash } from 'node:crypto';

/** A part of a request, in order; reasoning also has its seal. */
interface Part {
  readonly text: string;
  readonly seal?: string;
}

/** The content of a seal: a hash of everything but reasoning before it, and the previous reasoning's seal. */
interface Sealed {
  readonly prefix: string;
  readonly former: string | undefined;
}

/** Seals reasoning, and finds reasoning in a request whose prefix has changed. */
export class ReasoningSeals {
  readonly #sealed = new Map<string, Sealed>();

  /** Returns the seal of reasoning after these parts. */
  seal(parts: readonly Part[]): string {
    const seal = `seal-${this.#sealed.size}`;
    const former = parts.findLast((part) => part.seal !== undefined)?.seal;
    this.#sealed.set(seal, { prefix: hashOf(parts), former });
    return seal;
  }

  /** The indexes of reasoning whose prefix has changed. */
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

/** The parts of Messages API messages, without cache marks. */
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

/** The parts of Responses API items. */
export function partsOfItems(items: readonly unknown[]): readonly Part[] {
  return (items as readonly Readonly<Record<string, unknown>>[]).map((item) => {
    const text = JSON.stringify(item);
    if (item['type'] !== 'reasoning') return { text };
    return { text, seal: String(item['encrypted_content']) };
  });
}

/**
 * Whether the turn of an open call has lost its leading thinking, with which every turn starts: it must be sent as signed.
 */
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
