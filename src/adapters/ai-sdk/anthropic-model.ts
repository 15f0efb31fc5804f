// Recognizes Anthropic's models by their names: most of them reject reasoning once anything before it has changed.

import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';

/** A model of the AI SDK, or its name at the AI gateway. */
export type ModelReference = string | { readonly provider: string; readonly modelId: string };

/**
 * Returns the call arguments that follow from the model and its provider options. Most of Anthropic's models reject reasoning once
 * anything before it has changed, so reasoning is removed from the first edit on; but with a thinking budget they reject a turn without
 * reasoning. With any provider, the name contains `anthropic`: `vertex.anthropic.messages`, `us.anthropic.claude-…` at Bedrock,
 * `anthropic/claude-…` at a gateway. Only an application inference profile of Bedrock lacks it: there, a request for thinking identifies
 * the model. For all other models `reasoning` is `undefined`, and the session decides by the model.
 *
 * @param providerOptions those of the request, if they are known
 */
export function describeModel(
  model: ModelReference,
  providerOptions?: unknown,
): Pick<CompactCall, 'modelName' | 'reasoning'> {
  // A custom model may lack these fields.
  const { provider, modelId }: JsonRecord = asRecord(model) ?? {};
  const modelName = asText(model) ?? asText(modelId);
  const fullName = `${asText(provider) ?? ''}/${modelName ?? ''}`.toLowerCase();
  // AI SDK 7 prefers the longer name.
  const { anthropic, bedrock, amazonBedrock = bedrock } = asRecord(providerOptions) ?? {};
  const { reasoningConfig, additionalModelRequestFields: fields } = asRecord(amazonBedrock) ?? {};
  const added = fullName.includes('bedrock') ? asRecord(asRecord(fields)?.['thinking']) : undefined;
  if (!fullName.includes('anthropic') && added === undefined)
    return { modelName, reasoning: undefined };
  const thinking = asRecord(anthropic)?.['thinking'] ?? reasoningConfig ?? added;
  return { modelName, reasoning: reasoningOfModel(modelName, thinking) };
}
