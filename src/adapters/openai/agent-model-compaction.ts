// Compaction on demand for the Agents SDK: a call of its own to the agent's model, in the SDK's own words. The SDK writes the items as
// those of the Responses API, and reads what comes back. Names no type of that SDK.

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

/** What knows the models of agents by their names, as `new OpenAIProvider()` of the Agents SDK does. */
export interface AgentModelProvider {
  getModel(modelName?: string): unknown;
}

/** Tools that requests list as the agent has them; of others the SDK makes what only a run knows. */
const LISTED: ReadonlySet<unknown> = new Set(['function', 'hosted_tool']);

interface AskedModel {
  readonly getResponse: (request: object) => PromiseLike<unknown>;
}

/**
 * Returns what has items compacted by the model of an agent: with its instructions, its tools and its settings, and the trigger at
 * the end. Of a model that cannot, it rejects and says why.
 *
 * @param given all items of the call, of which some may answer what the server alone has
 * @param provider asked for a model that the agent only names
 */
export function compactionByAgentModel(
  agent: JsonRecord,
  instructions: unknown,
  given: readonly unknown[],
  provider: AgentModelProvider | undefined,
): CompactMessages {
  return async (messages, signal) => {
    const { toolChoice: _, ...modelSettings } = asRecord(agent['modelSettings']) ?? {};
    assertHoldsNoItems(modelSettings['providerData'], { conversation: answersUnseen(given) });
    const model = await modelOf(agent['model'], provider);
    const request = {
      systemInstructions: asText(instructions),
      // The SDK knows no trigger; what it does not know it passes on.
      input: [...messages, { type: 'unknown', providerData: COMPACTION_TRIGGER }],
      modelSettings,
      tools: asArray(agent['tools']).filter((tool) => LISTED.has(asRecord(tool)?.['type'])),
      handoffs: [],
      outputType: 'text',
      tracing: false,
      signal,
    };
    const answer = asRecord(await model.getResponse(request));
    const made = newestCompaction(answer?.['output']);
    return compactedTo(made && withoutUndefined(made));
  };
}

async function modelOf(
  named: unknown,
  provider: AgentModelProvider | undefined,
): Promise<AskedModel> {
  const isModel = (value: unknown): value is AskedModel =>
    typeof asRecord(value)?.['getResponse'] === 'function';
  if (isModel(named)) return named;
  const name = asText(named);
  const found = await provider?.getModel(name === '' ? undefined : name);
  if (isModel(found)) return found;
  throw compactionFailed(
    'the agent names its model alone; give the filter `compactByProvider: new OpenAIProvider()`.',
  );
}

/** Whether items answer calls that are not among them: with `previousResponseId` or `conversationId` there are only new ones. */
function answersUnseen(items: readonly unknown[]): boolean {
  const calls = new Set<unknown>();
  return items.map(asRecord).some((item) => {
    if (item?.['type'] === 'function_call') calls.add(item['callId']);
    return item?.['type'] === 'function_call_result' && !calls.has(item['callId']);
  });
}
