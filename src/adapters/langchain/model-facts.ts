// Reads call arguments from a chat model: its name, its cache lifetime, and the reasoning policy that it needs.

import { asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { cacheTtlIn } from '../format/cache-marks.js';
import { reasoningOfModel } from '../request/claude-reasoning.js';

export type ModelFacts = Pick<CompactCall, 'modelName' | 'reasoning' | 'cacheTtlMs'>;

/**
 * Reads a chat model's facts. Most of Anthropic's models bind reasoning to the messages before it, so after an edit it must be
 * removed, on any platform; but with a budget they require it. For others the session decides by the model.
 */
export function modelFacts(model: unknown): ModelFacts {
  if (!isRecord(model)) return {};
  const modelName = asText(model['model']) ?? asText(model['modelName']);
  const cacheTtlMs = cacheTtlIn({ promptCacheRetention: asText(model['promptCacheRetention']) });
  const names = [modelName, resultOf(model, '_llmType'), resultOf(model, 'getName')].join(' ');
  return {
    ...(modelName !== undefined && { modelName }),
    ...(cacheTtlMs !== undefined && { cacheTtlMs }),
    ...(/anthropic|claude/i.test(names) && {
      reasoning: reasoningOfModel(modelName, model['thinking']),
    }),
  };
}

/** Custom models may lack these methods, or have others with the same name. */
function resultOf(model: JsonRecord, name: '_llmType' | 'getName'): string {
  try {
    const method = model[name];
    const result: unknown = typeof method === 'function' ? method.call(model) : undefined;
    if (result instanceof Promise) result.catch(() => undefined);
    return typeof result === 'string' ? result : '';
  } catch {
    // The name is only a hint.
    return '';
  }
}
