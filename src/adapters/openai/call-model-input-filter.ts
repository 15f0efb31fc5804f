// The adapter for OpenAI's Agents SDK: a filter for what a run sends to the model. Imports no types of the SDK, because versions
// differ in those of filters.

import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import type { ConversationReport } from '../conversation.js';
import { asRecord, asText } from '../../shared/json.js';
import { cacheTtlIn } from '../cache-marks.js';
import { checkedFields } from '../call-arguments.js';
import { kindOf } from '../../shared/misuse.js';
import { agentItemFormat } from './agent-item-format.js';
import { compactionByAgentModel } from './agent-model-compaction.js';
import type { AgentModelProvider } from './agent-model-compaction.js';
import { createItemCompactor } from './input-compactor.js';

/** Options of a filter. */
export interface ModelInputFilterOptions extends AdapterOptions {
  /**
   * Returns models by the names that agents have, for the strategy `provider`: `new OpenAIProvider()`, or the one of your
   * `Runner`. @default only agents whose `model` is an object can be compacted by their provider
   */
  readonly compactByProvider?: AgentModelProvider | undefined;
}

/** The model input of a run. Other fields are unchanged. */
export interface ModelInput {
  input: object[];
}

/** A `CallModelInputFilter` of the Agents SDK. */
export interface ModelInputFilter {
  /** @returns the model input with compacted items */
  <Data extends ModelInput>(args: {
    readonly modelData: Data;
    readonly agent?: object;
  }): Promise<Data>;
  /** Makes versions that support it pass the original items. The filter changes none of them. */
  readonly preserveInputIdentity: true;
  /** Reports of its conversations, least recently used first. */
  report(): readonly ConversationReport[];
}

/**
 * Returns a filter for `run(agent, input, { callModelInputFilter })` or for a `Runner`. It compacts the
 * items of a run before each call of the model.
 *
 * A run keeps its own items and calls the filter with them each time, so edits affect only what the model gets. A session of the
 * SDK stores the filtered items of the run's own input; items that it had
 * before are unchanged. With `previousResponseId` or `conversationId`, the provider keeps
 * the history and there are new items only, so there is nothing to compact.
 *
 * @throws RangeError naming each invalid option; reasoning cannot be stripped.
 */
export function callModelInputFilter(
  compactor: Compactor,
  options: ModelInputFilterOptions = {},
): ModelInputFilter {
  const { compactByProvider: provider, ...rest } = checkedFields(options, 'adapter options');
  if (provider !== undefined && typeof asRecord(provider)?.['getModel'] !== 'function') {
    throw new RangeError(
      `Expected compactByProvider to be a model provider of the Agents SDK, as new OpenAIProvider(), got ${kindOf(provider)}.`,
    );
  }
  const compact = createItemCompactor(compactor, agentItemFormat, rest);
  const filter = async <Data extends ModelInput>(args: {
    readonly modelData: Data;
    readonly agent?: object;
  }): Promise<Data> => {
    const { modelData, agent } = checkedFields(args, 'what a filter is asked about');
    const { input: given, instructions } = checkedFields<
      Data & { readonly instructions?: unknown }
    >(modelData, 'what the model is to be sent');
    const fields = asRecord(agent) ?? {};
    const { model, modelSettings } = fields;
    const modelName = asText(model);
    const input = await compact(given, {
      ...(modelName !== '' && { modelName }),
      cacheTtlMs: cacheTtlIn(modelSettings),
      compactByProvider: compactionByAgentModel(fields, instructions, given, provider),
    });
    return { ...modelData, input };
  };
  return Object.assign(filter, {
    preserveInputIdentity: true as const,
    report: () => compact.report(),
  });
}
