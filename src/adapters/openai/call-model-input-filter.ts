// The adapter for OpenAI's Agents SDK: a filter of what a run sends to the model. Names no type of that
// SDK, for versions differ in what they know of filters.

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
import { createItemCompactor } from './item-compactor.js';

/** How a filter works. */
export interface ModelInputFilterOptions extends AdapterOptions {
  /**
   * Asked for the models that agents name, to have them compact by the strategy `provider`: `new OpenAIProvider()`, or that of your
   * `Runner`. @default an agent whose `model` is an object is compacted by that, and no other
   */
  readonly compactByProvider?: AgentModelProvider | undefined;
}

/** What a run is about to send, as the SDK hands it to filters; whatever else is in it stays as it is. */
export interface ModelInput {
  input: object[];
}

/** A `CallModelInputFilter` of the Agents SDK. */
export interface ModelInputFilter {
  /** @returns what to send, with the items made ready */
  <Data extends ModelInput>(args: {
    readonly modelData: Data;
    readonly agent?: object;
  }): Promise<Data>;
  /** Tells versions that know it to hand over the items themselves: it changes none of them. */
  readonly preserveInputIdentity: true;
  /** What its conversations have come to; the one that was used last comes last. */
  report(): readonly ConversationReport[];
}

/**
 * Returns a filter for `run(agent, input, { callModelInputFilter })` or for a `Runner`, which makes the
 * items of a run ready before each call of the model.
 *
 * A run keeps its own items and asks the filter anew each time, so edits reach the model alone. What a
 * session stores of the run's own input is what the filter made of it; items that the session had
 * before stay in it as they were. With `previousResponseId` or `conversationId` the provider keeps
 * the history, and the items are only what is new: there is nothing for it to do then.
 *
 * @throws RangeError naming each option that is wrong; reasoning cannot be stripped.
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
    const asked = asRecord(agent) ?? {};
    const { model, modelSettings } = asked;
    const modelName = asText(model);
    const input = await compact(given, {
      ...(modelName !== '' && { modelName }),
      cacheTtlMs: cacheTtlIn(modelSettings),
      compactByProvider: compactionByAgentModel(asked, instructions, given, provider),
    });
    return { ...modelData, input };
  };
  return Object.assign(filter, {
    preserveInputIdentity: true as const,
    report: () => compact.report(),
  });
}
