// What the API reports of the input of a request, kept by the last message of that request, which the
// next request of the conversation holds as well. Reads copies; the response stays the caller's.

import type { MiddlewareContext } from '@anthropic-ai/sdk';
import { MAX_REASON_LENGTH } from '../../main/preflight/prompt-cache.js';
import { asRecord, asText, isRecord } from '../../shared/json.js';
import type { CompactCall } from '../adapter-options.js';
import { reportedSum } from '../call-arguments.js';

/** Usage of requests by their last message. */
export class ReportedUsage {
  readonly #usage = new WeakMap<object, CompactCall>();

  /** What was reported of the last request whose messages these go on from, if anything. */
  of(messages: readonly object[]): CompactCall | undefined {
    for (let at = messages.length - 1; at >= 0; at -= 1) {
      const message = messages[at];
      const usage = message === undefined ? undefined : this.#usage.get(message);
      if (usage !== undefined) return usage;
    }
    return undefined;
  }

  /** Takes note of what a response reports, as soon as it does. Returns at once and throws nothing. */
  note(messages: readonly object[], response: Response, context: MiddlewareContext): void {
    const last = messages.at(-1);
    if (!response.ok || last === undefined) return;
    this.#read(response, context).then(
      (usage) => {
        if (usage !== undefined) this.#usage.set(last, usage);
      },
      // Whoever reads the response itself gets to know.
      () => undefined,
    );
  }

  async #read(response: Response, context: MiddlewareContext): Promise<CompactCall | undefined> {
    const parsed: unknown = await context.parse(response);
    if (!isEventStream(parsed)) return usageOf(parsed);
    for await (const event of parsed) {
      return isRecord(event) ? usageOf(event['message']) : undefined;
    }
    return undefined;
  }
}

/** Of a message that a tool on the server contributed to, the usage is a sum over several requests. */
function usageOf(message: unknown): CompactCall | undefined {
  if (!isRecord(message) || !isRecord(message['usage'])) return undefined;
  const { content, usage } = message;
  if (Array.isArray(content) && content.some(isServerCall)) return undefined;
  const {
    input_tokens: fresh,
    cache_read_input_tokens: read,
    cache_creation_input_tokens: written,
  } = usage;
  const reported = reportedSum(fresh, read, written);
  if (reported.reportedInputTokens === undefined)
    return 'oddUsage' in reported ? reported : undefined;
  const reason = asText(
    asRecord(asRecord(message['diagnostics'])?.['cache_miss_reason'])?.['type'],
  );
  const isShort = reason !== undefined && reason.length <= MAX_REASON_LENGTH;
  return isShort ? { ...reported, reportedCacheMissReason: reason } : reported;
}

function isServerCall(part: unknown): boolean {
  if (!isRecord(part)) return false;
  const { type } = part;
  return typeof type === 'string' && type !== 'tool_use' && type.endsWith('tool_use');
}

function isEventStream(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
