// Recognizes Anthropic's models, whose reasoning must leave once anything before it has changed, by their names.

import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../adapter-options.js';

/** A model of the AI SDK, or its name at the AI gateway. */
export type ModelReference = string | { readonly provider: string; readonly modelId: string };

/**
 * Returns call arguments that follow from the model. Anthropic's models reject reasoning once anything before it has changed,
 * so it is removed from the first edit on. Whoever serves them, the name contains `anthropic`: `vertex.anthropic.messages`,
 * `us.anthropic.claude-…` at Bedrock, `anthropic/claude-…` at a gateway. For others the session decides by the model.
 */
export function describeModel(model: ModelReference): Pick<CompactCall, 'modelName' | 'reasoning'> {
  // A custom model may lack these fields.
  const { provider, modelId }: JsonRecord = asRecord(model) ?? {};
  const modelName = asText(model) ?? asText(modelId);
  const fullName = `${asText(provider) ?? ''}/${modelName ?? ''}`;
  const isAnthropic = fullName.toLowerCase().includes('anthropic');
  return { modelName, reasoning: isAnthropic ? 'strip-after-first-edit' : undefined };
}
