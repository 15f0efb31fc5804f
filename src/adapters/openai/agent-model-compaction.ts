// Compaction on demand for the Agents SDK: an extra call of the agent's model through the SDK, which converts items to and from those
// of the Responses API. Imports no types of the SDK.

import { asArray, asRecord, asText, withoutUndefined } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import {
  assertHoldsNoItems,
  compactedTo,
  COMPACTION_TRIGGER,
  compactionFailed,
  newestCompaction,
} from '../provider-compaction.js';
import type { CompactMessages } from '../provider-compaction.js';

/** Returns models by name, such as `new OpenAIProvider()` of the Agents SDK. */
export interface AgentModelProvider {
  getModel(modelName?: string): unknown;
}

/** Types of tools that requests list unchanged. The SDK converts others with data that only a run has. */
const LISTED: ReadonlySet<unknown> = new Set(['function', 'hosted_tool']);

interface AgentModel {
  readonly getResponse: (request: object) => PromiseLike<unknown>;
}

/**
 * Returns a function that has the agent's model compact items: with the agent's instructions, tools and settings, and the trigger as
 * the last item. It rejects with the reason if the model does not support that.
 *
 * @param given all items of the call, to find out whether the server keeps earlier ones
 * @param provider returns the model if the agent has its name only
 */
export function compactionByAgentModel(
  agent: JsonRecord,
  instructions: unknown,
  given: readonly unknown[],
  provider: AgentModelProvider | undefined,
): CompactMessages {
  return async (messages, signal) => {
    const { toolChoice: _, ...modelSettings } = asRecord(agent['modelSettings']) ?? {};
    assertHoldsNoItems(modelSettings['providerData'], { conversation: lacksCalls(given) });
    const model = await modelOf(agent['model'], provider);
    const request = {
      systemInstructions: asText(instructions),
      // The SDK passes on the `providerData` of unknown items.
      input: [...messages, { type: 'unknown', providerData: COMPACTION_TRIGGER }],
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

/** Whether items answer calls that are missing, as with `previousResponseId` or `conversationId`. */
function lacksCalls(items: readonly unknown[]): boolean {
  const calls = new Set<unknown>();
  return items.map(asRecord).some((item) => {
    if (item?.['type'] === 'function_call') calls.add(item['callId']);
    return item?.['type'] === 'function_call_result' && !calls.has(item['callId']);
  });
}
