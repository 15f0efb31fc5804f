// A proxy of an AI SDK model that reports the usage and refusals of its provider, and may mark a place of the prompt for its cache. Looks like
// the model itself to its users.

import type { Compactor } from '../../main/compactor.js';
import { isFixableByCompacting } from '../../main/models/model-limits.js';
import { asRecord } from '../../shared/json.js';
import type { CompactCall } from '../request/adapter-options.js';
import { isCompactedPrompt, passingUsage } from './compaction-middleware.js';
import type { AnsweringModel } from './compaction-middleware.js';

/** By proxy, the compactor that watches the model, and the model itself. */
const WATCHED = new WeakMap<object, { readonly by: Compactor; readonly model: unknown }>();

/** What is done with the calls of a watched model. */
export interface ModelWatch {
  /** Takes the usage of an answer, or a refusal. */
  readonly reportUsage: (usage: CompactCall) => void;
  /** Returns the call to make in place of a call. */
  readonly marked: (call: object) => object;
}

/**
 * Returns a proxy whose calls report the usage of their answers, or a refusal that compaction can fix. Fields, methods and prototype are
 * those of the given model. For a prompt that `compactionMiddleware` has compacted, the proxy reports without usage, because the
 * middleware's conversation gets that.
 *
 * @param by the compactor that watches. If `given` is a proxy made for it before, its model is watched anew instead of the proxy, because
 *   some agents pass the returned model to the next step
 * @returns `undefined` if only its name is known, or if its calls cannot be replaced
 */
export function watchedModel<Model>(
  given: Model,
  by: Compactor,
  what: ModelWatch,
): Model | undefined {
  try {
    const model = ownModelOf(given, by);
    return canWatch(model) ? watch(model, by, what) : undefined;
  } catch {
    // A model that throws when read is left to the SDK.
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
  { reportUsage, marked }: ModelWatch,
): Model {
  const watchedCall = (kind: keyof AnsweringModel) => async (call: object) => {
    const sent = marked(call);
    const report = (usage: CompactCall): void => {
      reportUsage(isCompactedPrompt(asRecord(sent)?.['prompt']) ? {} : usage);
    };
    let answer: unknown;
    try {
      answer = await model[kind](sent);
    } catch (thrown) {
      if (isFixableByCompacting(thrown)) report({ refusal: thrown });
      throw thrown;
    }
    return passingUsage(answer, report);
  };
  const calls = new Map<unknown, unknown>(KINDS.map((kind) => [kind, watchedCall(kind)]));
  // Getters, setters and methods run with the model itself as `this`, because a proxy lacks its private fields.
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
