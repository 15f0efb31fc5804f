// What is known about the model that a request goes to: its name, and what it wants done with reasoning.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { CompactCall } from '../adapter-options.js';
import { cacheTtlIn } from '../cache-marks.js';
import { textField } from './message-fields.js';

/** What a model says of itself. */
export type ModelFacts = Pick<CompactCall, 'modelName' | 'reasoning' | 'cacheTtlMs'>;

/**
 * Reads what a chat model says of itself. Models of Anthropic bind reasoning to what stands before it, so
 * that after an edit it has to go, on whichever platform they run.
 */
export function modelFacts(model: unknown): ModelFacts {
  if (!isRecord(model)) return {};
  const modelName = textField(model, 'model') ?? textField(model, 'modelName');
  const cacheTtlMs = cacheTtlIn({ promptCacheRetention: textField(model, 'promptCacheRetention') });
  const said = [modelName, answer(model, '_llmType'), answer(model, 'getName')].join(' ');
  return {
    ...(modelName !== undefined && { modelName }),
    ...(cacheTtlMs !== undefined && { cacheTtlMs }),
    reasoning: /anthropic|claude/i.test(said) ? 'strip-after-first-edit' : 'keep',
  };
}

/** A model that the application made up may lack these, or have others of the same name. */
function answer(model: JsonRecord, method: '_llmType' | 'getName'): string {
  try {
    const ask = model[method];
    const said: unknown = typeof ask === 'function' ? ask.call(model) : undefined;
    if (said instanceof Promise) said.catch(() => undefined);
    return typeof said === 'string' ? said : '';
  } catch {
    // Only a hint: whoever calls the model learns what is wrong with it.
    return '';
  }
}
