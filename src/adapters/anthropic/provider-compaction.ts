// Compaction on demand by Anthropic: derives the request from a request for a message, and reads the answer.

import { asArray, asFilledText, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { ProviderMessages } from '../format/message-format.js';
import { estimateOpaqueTokens } from '../format/opaque-tokens.js';
import { compactionFailed } from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import type { AnthropicMessage } from './message-part.js';

/** Beta header that a compaction request requires, and later requests that contain the compaction block. */
export const COMPACTION_BETA = 'compact-2026-09-04';

/** Minimum for `max_tokens`: enough for a summary, whatever the request's own value is. */
const MIN_MAX_TOKENS = 8_192;

/** The compaction block becomes the first message, unchanged. Messages after it keep their thinking. */
export const ANTHROPIC_PROVIDER_MESSAGES: ProviderMessages<AnthropicMessage> = {
  // The block must be first, and system texts and server blocks before it would be lost.
  allowsPinned: false,
  divides: (before, behind) =>
    before.role !== behind.role && (behind.role === 'user' || behind.role === 'assistant'),
  write: (block) => ({ role: 'assistant', content: [block] }) as AnthropicMessage,
};

/** Whether messages start with a compaction block. */
export function beginsWithBlock([first]: readonly unknown[]): boolean {
  const [part] = asArray(asRecord(first)?.['content']);
  return asRecord(part)?.['type'] === 'compaction';
}

/** Whether a compaction can be requested with this body. */
export function canCompact(body: JsonRecord): boolean {
  return !isRecord(body['context_management']) && !isRecord(body['thread']);
}

/**
 * Returns a function that has messages compacted, by a request derived from the body of a request for a message.
 *
 * @param send sends a body with the beta header
 */
export function compactionOnDemand(
  body: JsonRecord,
  send: (body: string, signal: AbortSignal) => Promise<Response>,
): CompactMessages {
  return async (messages, signal) => {
    const response = await send(JSON.stringify(compactionBody(body, messages)), signal);
    const answer = asRecord(await response.json().catch(() => undefined));
    if (!response.ok) {
      const details = asRecord(asRecord(answer?.['error'])?.['details']);
      const code = asText(details?.['error_code']) ?? 'no code';
      throw compactionFailed(`the provider refused with status ${response.status} (${code}).`);
    }
    const blocks = asArray(answer?.['content']);
    const block = asRecord(blocks[0]);
    const reason = asText(answer?.['stop_reason']);
    const isWhole = reason === 'compaction' && blocks.length === 1;
    const isFilled = asFilledText(block?.['content']) !== undefined;
    if (!isWhole || block?.['type'] !== 'compaction' || !isFilled) {
      throw compactionFailed(
        `the provider made no summary (it stopped with ${reason ?? 'nothing'}).`,
      );
    }
    const tokens = summaryTokens(answer) ?? estimateOpaqueTokens(block['content']);
    return {
      items: [{ kind: 'compaction', data: block, tokens }],
      // Thinking after the compaction block is valid only if the block is signed.
      keepsReasoning: typeof block['signature'] === 'string',
    };
  };
}

/** Derives the body of a compaction request: keeps system, tools and model, and omits fields that such a request must not have. */
function compactionBody(body: JsonRecord, messages: readonly unknown[]): JsonRecord {
  const {
    stop_sequences: _,
    stream: __,
    tool_choice: choice,
    output_config: config,
    ...rest
  } = body;
  const kind = asRecord(choice)?.['type'];
  const { format: ___, task_budget: ____, ...settings } = asRecord(config) ?? {};
  const maxTokens = body['max_tokens'];
  return {
    ...rest,
    ...((kind === 'auto' || kind === 'none') && { tool_choice: choice }),
    ...(Object.keys(settings).length > 0 && { output_config: settings }),
    max_tokens: Math.max(MIN_MAX_TOKENS, typeof maxTokens === 'number' ? maxTokens : 0),
    messages,
    compaction: { type: 'summarize' },
  };
}

/** Returns the tokens of the summary as the provider counted them; `undefined` if it does not say. */
function summaryTokens(answer: JsonRecord | undefined): number | undefined {
  const iterations = asArray(asRecord(answer?.['usage'])?.['iterations']).map(asRecord);
  const tokens = iterations.find((entry) => entry?.['type'] === 'compaction')?.['output_tokens'];
  return typeof tokens === 'number' && Number.isSafeInteger(tokens) && tokens >= 0
    ? tokens
    : undefined;
}
