// A model of the AI SDK that tells what its provider says of a request. Passes each call on as it is, and is like the model itself
// to whoever uses it.

import type { Compactor } from '../../main/compactor.js';
import { isMendable } from '../../main/models/model-limits.js';
import { asRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { isCompactedPrompt, passingUsage } from './compaction-middleware.js';
import type { AnsweringModel } from './compaction-middleware.js';

/** By watched model, who watches it, and the model itself. */
const WATCHED = new WeakMap<object, { readonly by: Compactor; readonly model: unknown }>();

/**
 * Returns a model whose calls tell the usage of their answers, or that they were refused for what compacting can change. Fields,
 * methods and prototype are those of the given one. Of a prompt that `compactionMiddleware` has compacted it tells no more than that
 * there is an answer: the usage is told to that conversation.
 *
 * @param by watches it instead of what it returned for the same model before: some agents take that for the next step
 * @returns `undefined` if only its name is known, or if its calls cannot be replaced
 */
export function watchedModel<Model>(
  given: Model,
  by: Compactor,
  tell: (usage: CompactCall) => void,
): Model | undefined {
  try {
    const model = ownModelOf(given, by);
    return canWatch(model) ? watch(model, by, tell) : undefined;
  } catch {
    // What throws when it is read is left to the SDK.
    return undefined;
  }
}

function ownModelOf<Model>(given: Model, by: Compactor): Model {
  const known = WATCHED.get(asRecord(given) ?? {});
  return known?.by === by ? (known.model as Model) : given;
}

const KINDS = ['doGenerate', 'doStream'] as const;

function canWatch<Model>(model: Model): model is Model & AnsweringModel {
  const fields = asRecord(model);
  return KINDS.every((kind) => {
    if (typeof fields?.[kind] !== 'function') return false;
    return Object.getOwnPropertyDescriptor(model, kind)?.configurable !== false;
  });
}

function watch<Model extends AnsweringModel>(
  model: Model,
  by: Compactor,
  tell: (usage: CompactCall) => void,
): Model {
  const telling = (kind: keyof AnsweringModel) => async (call: object) => {
    const tellOf = (usage: CompactCall): void => {
      tell(isCompactedPrompt(asRecord(call)?.['prompt']) ? {} : usage);
    };
    let answer: unknown;
    try {
      answer = await model[kind](call);
    } catch (thrown) {
      if (isMendable(thrown)) tellOf({ refusal: thrown });
      throw thrown;
    }
    try {
      return passingUsage(answer, tellOf);
    } catch {
      // Usage only helps, and the model has answered.
      return answer;
    }
  };
  const calls = new Map<unknown, unknown>(KINDS.map((kind) => [kind, telling(kind)]));
  // Getters, setters and methods get the model itself: private fields are there only.
  const watched: Model = new Proxy(model, {
    get: (target, name) => {
      const value: unknown = calls.get(name) ?? Reflect.get(target, name, target);
      const isMethod = typeof value === 'function' && name !== 'constructor';
      if (!isMethod || calls.has(name) || Object.hasOwn(target, name)) return value;
      return new Proxy(value, {
        apply: (method, self, values): unknown =>
          Reflect.apply(method as () => unknown, self === watched ? target : self, values),
      });
    },
    set: (target, name, value) => Reflect.set(target, name, value, target),
  });
  WATCHED.set(watched, { by, model });
  return watched;
}
