// Compaction on demand by the provider of a model of the AI SDK: a call of its own to that model, and the part that comes back. What
// the SDK's own packages cannot carry is said, and not asked for.

import { asArray, asFilledText, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { assertHoldsNoItems, compactedTo, compactionFailed } from '../provider-compaction.js';
import type { CompactMessages } from '../provider-compaction.js';
import type { ModelCall, PromptParams } from './compaction-middleware.js';

interface AskedModel {
  readonly doGenerate: (call: object) => PromiseLike<unknown>;
}

const IGNORED =
  'the model has answered as if it was asked for none: that takes @ai-sdk/openai 4, and a provider that knows it.';

/**
 * Returns what has the messages of a call compacted by its model: the same call with the trigger, for what the system says first and
 * these messages; nothing is streamed. Of a model that cannot, it rejects and says why.
 *
 * @param deaf models that have answered a trigger as if there was none, which costs an answer: they are not asked again
 */
export function compactionByModel(
  { model, params }: ModelCall<PromptParams>,
  deaf: Set<string>,
): CompactMessages {
  return async (messages, signal) => {
    const asked = asRecord(model) ?? {};
    // The SDK's own name of the options, by who serves the Responses API.
    const name = optionsNameOf(asked);
    const fullName = `${String(asked['provider'])}/${String(asked['modelId'])}`;
    if (deaf.has(fullName)) throw compactionFailed(IGNORED);
    const options = asRecord(params.providerOptions) ?? {};
    const own = { ...asRecord(options['openai']), ...asRecord(options[name]) };
    assertHoldsNoItems(own);
    const firstSaid = params.prompt.findIndex(({ role }) => role !== 'system');
    const call = {
      ...params,
      prompt: [...params.prompt.slice(0, firstSaid), ...messages],
      providerOptions: { ...options, [name]: { ...own, compactionTrigger: true } },
      abortSignal: signal,
    };
    const answer = asRecord(await (asked as unknown as AskedModel).doGenerate(call));
    const parts = asArray(answer?.['content']).map(asRecord);
    const made = parts.findLast((part) => part?.['kind'] === 'openai.compaction');
    if (made === undefined && parts.length > 0) {
      deaf.add(fullName);
      throw compactionFailed(IGNORED);
    }
    const { providerMetadata: providerOptions } = made ?? {};
    const part = { type: 'custom', kind: made?.['kind'], providerOptions };
    return compactedTo(
      isFilled(providerOptions) ? { role: 'assistant', content: [part] } : undefined,
    );
  };
}

/** @throws CompressionExecutionError for a model that cannot be asked */
function optionsNameOf({ provider, specificationVersion: version }: JsonRecord): string {
  const known = asText(provider) ?? 'a model without a provider';
  if (known.includes('anthropic'))
    throw compactionFailed(
      "the AI SDK's package for Anthropic loses what a compaction is signed with; `compactingFetch` of ctxfold/anthropic does not.",
    );
  const name = ['azure', 'openai'].find((each) => known.includes(each));
  if (name === undefined || !known.endsWith('.responses'))
    throw compactionFailed(
      `the AI SDK carries compactions of OpenAI's Responses API alone, and this is ${known}.`,
    );
  if (version === 'v2' || version === 'v3')
    throw compactionFailed('the package for OpenAI knows no compaction before @ai-sdk/openai 4.');
  return name;
}

/** Whether the part of a compaction holds one. */
function isFilled(providerMetadata: unknown): boolean {
  const held = Object.values(asRecord(providerMetadata) ?? {}).map(asRecord);
  return held.some((data) => asFilledText(data?.['encryptedContent']) !== undefined);
}
