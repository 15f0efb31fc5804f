// The adapter for OpenAI's Agents SDK: a filter for what a run sends to the model, and compaction by the agent's model through the
// SDK, which converts items to and from those of the Responses API. Imports no types of the SDK, because its versions differ in the
// types of filters.

import type { Compactor } from '../../main/compactor.js';
import { asArray, asRecord, asText, withoutUndefined } from '../../shared/json.js';
import { kindOf } from '../../shared/misuse.js';
import type { JsonRecord } from '../../shared/json.js';
import { assertAdapterOptions, loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import type { ConversationReport } from '../conversation/conversation.js';
import { warnIfServerHeld } from '../conversation/warn-of-failure.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { checkedFields } from '../request/call-arguments.js';
import {
  compactedTo,
  COMPACTION_TRIGGER,
  compactionFailed,
  newestCompaction,
} from '../format/provider-compaction.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { overheadOf } from '../request/request-overhead.js';
import { agentItemFormat } from './agent-item-format.js';
import { createItemCompactor } from './input-compactor.js';

/** Options of a filter. */
export interface ModelInputFilterOptions extends AdapterOptions {
  /**
   * Returns a model by the name that an agent has, for the strategy `provider`: `new OpenAIProvider()`, or the model provider of your
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
  /** Makes versions of the SDK that support this pass the original items instead of copies. The filter changes none of them. */
  readonly preserveInputIdentity: true;
  /** Reports of its conversations, least recently used first. */
  report(): readonly ConversationReport[];
}

/**
 * Returns a filter for `run(agent, input, { callModelInputFilter })` or for a `Runner`. It compacts the
 * items of a run before each call of the model.
 *
 * A run keeps its own items and calls the filter with them each time, so edits affect only what the model gets. A session of
 * the SDK stores the filtered items of the run's own input; items that it had before are unchanged. With `previousResponseId`
 * or `conversationId`, the provider keeps the history and requests hold new items only, so nothing can be compacted. The filter
 * warns of that once.
 *
 * An `OpenAIResponsesCompactionSession` compacts by itself only as long as the model gets everything that it stores, so it stops
 * after the first edit. Use `compactingFetch` instead of the filter, whose edits the session does not see, or the strategy `provider`
 * instead of the session.
 *
 * @throws RangeError naming each invalid option; reasoning cannot be stripped.
 */
export function callModelInputFilter(
  compactor: Compactor,
  options: ModelInputFilterOptions = {},
): ModelInputFilter {
  const fields = checkedFields(options, 'adapter options');
  assertAdapterOptions(fields, ['compactByProvider']);
  const { compactByProvider: provider, ...rest } = fields;
  if (provider !== undefined && typeof asRecord(provider)?.['getModel'] !== 'function') {
    throw new RangeError(
      `Expected compactByProvider to be a model provider of the Agents SDK, as new OpenAIProvider(), got ${kindOf(provider)}.`,
    );
  }
  const compact = createItemCompactor(compactor, agentItemFormat, rest);
  const logger = loggerOf(compactor, options);
  const filter = async <Data extends ModelInput>(args: {
    readonly modelData: Data;
    readonly agent?: object;
  }): Promise<Data> => {
    const { modelData, agent } = checkedFields(args, 'what a filter is asked about');
    const { input: given, instructions } = checkedFields<
      Data & { readonly instructions?: unknown }
    >(modelData, 'what the model is to be sent');
    const fields = asRecord(agent) ?? {};
    const { model, modelSettings, tools } = fields;
    const { providerData } = asRecord(modelSettings) ?? {};
    if (warnIfServerHeld(logger, providerData)) return modelData;
    // A model of the Responses API has its name in a field that is protected.
    const modelName = asText(model) ?? asText(asRecord(model)?.['_model']);
    const input = await compact(given, {
      ...(modelName !== '' && { modelName }),
      overheadTokens: overheadOf(instructions, tools),
      cacheTtlMs: cacheTtlIn(modelSettings),
      compactByProvider: compactionByAgentModel(fields, instructions, provider),
    });
    return { ...modelData, input };
  };
  return Object.assign(filter, {
    preserveInputIdentity: true as const,
    report: () => compact.report(),
  });
}

/** Returns models by name, such as `new OpenAIProvider()` of the Agents SDK. */
export interface AgentModelProvider {
  getModel(modelName?: string): unknown;
}

/** Types of tools that can be listed in a request as they are. The SDK converts others with data that only a run has. */
const LISTED: ReadonlySet<unknown> = new Set(['function', 'hosted_tool']);

interface AgentModel {
  readonly getResponse: (request: object) => PromiseLike<unknown>;
}

/**
 * Returns a function that has the agent's model compact items. The request has the agent's instructions, tools and settings, and the
 * compaction trigger as its last item. The function rejects with the reason if the model does not support that.
 *
 * @param provider returns the model if the agent only names it
 */
function compactionByAgentModel(
  agent: JsonRecord,
  ownInstructions: unknown,
  provider: AgentModelProvider | undefined,
): CompactMessages {
  return async (messages, signal, instructions = []) => {
    const { toolChoice: _, ...modelSettings } = asRecord(agent['modelSettings']) ?? {};
    const model = await modelOf(agent['model'], provider);
    const request = {
      systemInstructions: asText(ownInstructions),
      // The SDK sends the `providerData` of unknown items as it is.
      input: [...instructions, ...messages, { type: 'unknown', providerData: COMPACTION_TRIGGER }],
      modelSettings,
      tools: asArray(agent['tools']).filter((tool) => LISTED.has(asRecord(tool)?.['type'])),
      handoffs: [],
      outputType: 'text',
      tracing: false,
      signal,
    };
    const answer = asRecord(await model.getResponse(request));
    const compaction = newestCompaction(answer?.['output']);
    return compactedTo(compaction && withoutUndefined(compaction));
  };
}

async function modelOf(
  model: unknown,
  provider: AgentModelProvider | undefined,
): Promise<AgentModel> {
  const isModel = (value: unknown): value is AgentModel =>
    typeof asRecord(value)?.['getResponse'] === 'function';
  if (isModel(model)) return model;
  const name = asText(model);
  const found = await provider?.getModel(name === '' ? undefined : name);
  if (isModel(found)) return found;
  throw compactionFailed(
    'the agent names its model alone; give the filter `compactByProvider: new OpenAIProvider()`.',
  );
}
