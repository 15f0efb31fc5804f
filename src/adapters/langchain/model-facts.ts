// Reads call arguments from a chat model: its name, its cache lifetime, and the reasoning policy that it needs.

import { asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';

export type ModelFacts = Pick<CompactCall, 'modelName' | 'reasoning' | 'cacheTtlMs'>;

/** What a request says besides its model. */
export interface ModelRequest {
  /** Of a request through the agent's middleware, as `cache_control`. */
  readonly modelSettings?: unknown;
  /** Of the agent's run: it may name another model. */
  readonly configurable?: unknown;
}

/**
 * Reads a chat model's facts. Most of Anthropic's models bind reasoning to the messages before it, so after an edit it must be
 * removed, on any platform; but with a budget they require it. For others the session decides by the model.
 */
export function modelFacts(model: unknown, request: ModelRequest = {}): ModelFacts {
  if (!isRecord(model)) return {};
  const fields = fieldsOf(model, request.configurable);
  const modelName = asText(fields['model']) ?? asText(fields['modelName']);
  const retention = asText(fields['promptCacheRetention']);
  const cacheTtlMs =
    cacheTtlIn(request.modelSettings) ?? cacheTtlIn({ promptCacheRetention: retention });
  const types = [resultOf(model, '_llmType'), resultOf(model, 'getName')];
  const names = [modelName, fields['modelProvider'], ...types].join(' ');
  return {
    ...(modelName !== undefined && { modelName }),
    ...(cacheTtlMs !== undefined && { cacheTtlMs }),
    ...(/anthropic|claude/i.test(names) && {
      reasoning: reasoningOfModel(modelName, fields['thinking']),
    }),
  };
}

/** Returns the fields of a model, or those that one is made of with each call: agents make such a model of a name. */
function fieldsOf(model: JsonRecord, configurable: unknown): JsonRecord {
  const { _defaultConfig: fields, _modelParams: params } = model;
  if (!isRecord(fields) || typeof params !== 'function') return model;
  return { ...fields, ...asRecord(resultOf(model, '_modelParams', { configurable })) };
}

/** Custom models may lack these methods, or have others with the same name. */
function resultOf(
  model: JsonRecord,
  name: '_llmType' | 'getName' | '_modelParams',
  ...given: readonly unknown[]
): unknown {
  try {
    const method = model[name];
    const result: unknown = typeof method === 'function' ? method.call(model, ...given) : undefined;
    if (result instanceof Promise) result.catch(() => undefined);
    return result instanceof Promise ? undefined : result;
  } catch {
    // The name is only a hint.
    return undefined;
  }
}
