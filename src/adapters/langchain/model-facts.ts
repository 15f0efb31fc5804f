// Reads arguments of a compaction from a chat model: its name, its cache lifetime, and the reasoning policy that it needs.

import { asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';

export type ModelFacts = Pick<CompactCall, 'modelName' | 'reasoning' | 'cacheTtlMs'>;

/** What a request states about its model and caching, besides the model object. */
export interface ModelRequest {
  /** Settings of a request through the agent's middleware, such as `cache_control`. */
  readonly modelSettings?: unknown;
  /** Configuration of the agent's run, which may name another model. */
  readonly configurable?: unknown;
}

/**
 * Reads a chat model's facts. Most of Anthropic's models bind reasoning to the messages before it, on any platform, so reasoning must
 * be removed after an edit; but with a thinking budget they require it. For other models the session decides by the model's name.
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

/** Returns the fields of a model. For one that an agent was given by name, those from which the model is made anew for each call. */
function fieldsOf(model: JsonRecord, configurable: unknown): JsonRecord {
  const { _defaultConfig: fields, _modelParams: params } = model;
  if (!isRecord(fields) || typeof params !== 'function') return model;
  return { ...fields, ...asRecord(resultOf(model, '_modelParams', { configurable })) };
}

/** Calls a method of a model, if possible: custom models may lack these methods, or have other ones with the same names. */
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
    // Ignored, because what the methods return is only a hint.
    return undefined;
  }
}
