// What the API reports of the input of a request, kept by the last message of that request, which the
// next request of the conversation holds as well. Reads copies; the response stays the caller's.

import type { MiddlewareContext } from '@anthropic-ai/sdk';
import { isRecord } from '../../shared/json.js';
import { reportedTokens } from '../call-arguments.js';

/** Input tokens of requests by their last message. */
export class ReportedUsage {
  readonly #tokens = new WeakMap<object, number>();

  /** The input tokens of the last request whose messages these go on from, if they were reported. */
  of(messages: readonly object[]): number | undefined {
    for (let at = messages.length - 1; at >= 0; at -= 1) {
      const message = messages[at];
      const tokens = message === undefined ? undefined : this.#tokens.get(message);
      if (tokens !== undefined) return tokens;
    }
    return undefined;
  }

  /** Takes note of what a response reports, as soon as it does. Returns at once and throws nothing. */
  note(messages: readonly object[], response: Response, context: MiddlewareContext): void {
    const last = messages.at(-1);
    if (!response.ok || last === undefined) return;
    this.#read(response, context).then(
      (tokens) => {
        if (tokens !== undefined) this.#tokens.set(last, tokens);
      },
      // Whoever reads the response itself gets to know.
      () => undefined,
    );
  }

  async #read(response: Response, context: MiddlewareContext): Promise<number | undefined> {
    const parsed: unknown = await context.parse(response);
    if (!isEventStream(parsed)) return inputTokensOf(parsed);
    for await (const event of parsed) {
      return isRecord(event) ? inputTokensOf(event['message']) : undefined;
    }
    return undefined;
  }
}

/** Of a message that a tool on the server contributed to, the usage is a sum over several requests. */
function inputTokensOf(message: unknown): number | undefined {
  if (!isRecord(message) || !isRecord(message['usage'])) return undefined;
  const { content, usage } = message;
  if (Array.isArray(content) && content.some(isServerCall)) return undefined;
  const {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  } = usage;
  if (typeof fresh !== 'number') return undefined;
  return reportedTokens(fresh + countOf(read) + countOf(written));
}

function isServerCall(part: unknown): boolean {
  if (!isRecord(part)) return false;
  const { type } = part;
  return typeof type === 'string' && type !== 'tool_use' && type.endsWith('tool_use');
}

function countOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function isEventStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
