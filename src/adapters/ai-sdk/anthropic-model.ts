// Which models bind their reasoning to what stands before it. Knows names alone.

import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../adapter-options.js';

/** A model of the AI SDK, or what its gateway calls it. */
export type ModelReference = string | { readonly provider: string; readonly modelId: string };

/**
 * What is known of a call by its model. Anthropic refuses reasoning once anything before it has changed, so
 * there it goes with the first edit, whoever serves the model: the name says `anthropic` then, as in
 * `vertex.anthropic.messages`, `us.anthropic.claude-…` at Bedrock and `anthropic/claude-…` at a gateway.
 */
export function describeModel(model: ModelReference): Pick<CompactCall, 'modelName' | 'reasoning'> {
  // A model that the application made up may say nothing of itself.
  const { provider, modelId }: JsonRecord = asRecord(model) ?? {};
  const modelName = asText(model) ?? asText(modelId);
  const fullName = `${asText(provider) ?? ''}/${modelName ?? ''}`;
  const isAnthropic = fullName.toLowerCase().includes('anthropic');
  return { modelName, reasoning: isAnthropic ? 'strip-after-first-edit' : 'keep' };
}
