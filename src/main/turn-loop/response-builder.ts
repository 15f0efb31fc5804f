// Assembles the streamed parts of a response into one history entry.

import type { ContentBlock, IContent, ToolCallBlock } from '../../shared/content.js';
import { assertIngestible } from '../../shared/ingestion.js';
import { isTokenCount } from '../tokens/token-ledger.js';
import type { ChatChunk } from './chat-model.js';

/** Collects the chunks of one response. */
export class ResponseBuilder {
  readonly #blocks: ContentBlock[] = [];
  #usage: unknown;

  /** The calls so far, in order. */
  get calls(): readonly ToolCallBlock[] {
    return this.#blocks.filter((block) => block.type === 'tool_call');
  }

  /** Input tokens of the request, if the model reported them. */
  get inputTokens(): number | undefined {
    const { inputTokens } = (this.#usage ?? {}) as { readonly inputTokens?: unknown };
    // Invalid numbers from a provider must not fail a turn.
    return isTokenCount(inputTokens) ? inputTokens : undefined;
  }

  add(chunk: ChatChunk): void {
    switch (chunk.type) {
      case 'text':
        this.#addText(chunk.text);
        break;
      case 'thinking':
        this.#addThought(chunk.thought, chunk.signature);
        break;
      case 'tool_call':
        this.#blocks.push(chunk.call);
        break;
      case 'finish':
        this.#usage = chunk.usage;
        break;
    }
  }

  /** The response as an entry; `undefined` if it is empty or only reasoning, which providers refuse in a history. */
  build(modelName: string | undefined): IContent | undefined {
    if (this.#blocks.every(({ type }) => type === 'thinking')) return undefined;
    return {
      speaker: 'ai',
      blocks: this.#blocks,
      metadata: {
        timestamp: Date.now(),
        ...(modelName !== undefined && { model: modelName }),
        ...this.#usageToKeep(),
      },
    };
  }

  /** The usage as metadata. Usage that a history cannot hold is left out, so that it does not fail the turn. */
  #usageToKeep(): { readonly usage?: unknown } {
    if (this.#usage === undefined) return {};
    const kept = { usage: this.#usage };
    try {
      assertIngestible({ speaker: 'ai', blocks: [], metadata: kept }, 0);
      return kept;
    } catch {
      return {};
    }
  }

  #addText(text: string): void {
    const last = this.#blocks.at(-1);
    if (last?.type === 'text') this.#replaceLast({ ...last, text: last.text + text });
    else if (text !== '') this.#blocks.push({ type: 'text', text });
  }

  /** A signature ends the thought that it signs. */
  #addThought(thought: string, signature: string | undefined): void {
    const last = this.#blocks.at(-1);
    const signed = signature === undefined ? {} : { signature };
    if (last?.type === 'thinking' && last.signature === undefined) {
      this.#replaceLast({ ...last, thought: last.thought + thought, ...signed });
    } else {
      this.#blocks.push({ type: 'thinking', thought, ...signed });
    }
  }

  #replaceLast(block: ContentBlock): void {
    this.#blocks[this.#blocks.length - 1] = block;
  }
}
