// The adapter for the loops of the AI SDK: a `prepareStep` that compacts the messages of each step.

import type { Compactor } from '../../main/compactor.js';
import { assertAdapterOptions } from '../request/adapter-options.js';
import type { AdapterOptions, CompactCall } from '../request/adapter-options.js';
import { asRecord } from '../../shared/json.js';
import {
  checkedCall,
  checkedFields,
  checkedMessages,
  reportedUsage,
} from '../request/call-arguments.js';
import { hasServerCalls } from '../request/provider-usage.js';
import { markedCall } from './cache-mark.js';
import { messageCompactor } from './message-compactor.js';
import { describeModel } from './anthropic-model.js';
import type { ModelReference } from './anthropic-model.js';
import { overheadOf } from '../request/request-overhead.js';
import { isSameList } from '../format/same-value.js';
import type { SdkMessage } from './sdk-message.js';
import { watchedModel } from './watched-model.js';

/** Options of the adapter and of this run. */
export interface PrepareStepOptions extends AdapterOptions {
  /** Aborts the preparation. Pass the run's `abortSignal`: the AI SDK does not pass it to `prepareStep`. */
  readonly signal?: AbortSignal | undefined;
  /** Names the conversation. @default it is recognized by its messages */
  readonly conversationId?: string | undefined;
}

/** The arguments of a `prepareStep` that are used. */
export interface StepInput<Message, Model extends ModelReference = ModelReference> {
  readonly model: Model;
  readonly messages: readonly Message[];
  /** System text. Passed by AI SDK 7 only. */
  readonly instructions?: unknown;
  readonly steps: readonly { readonly usage: { readonly inputTokens?: number | undefined } }[];
}

/** What `prepareStep` changes in a step. */
export interface PreparedStep<Message, Model> {
  /** The messages to send, if they differ from those given. */
  messages?: Message[];
  /**
   * A proxy of the step's model that also reports the usage of its answers, and refusals, to the conversation, and marks the cached part
   * of a prompt in front of an edit. Absent if the step has only the model's name.
   */
  model?: Model;
}

/**
 * A `PrepareStepFunction` of AI SDK 6 and 7, for any tools. Returns the messages to send and the model to send them to, always in an
 * object, because not every agent that takes such a function accepts `undefined`. To switch to another model, pass it in `step`:
 * `{ model, ...(await prepare({ ...step, model })) }`. Rejects with `ContextWindowExceededError` if the messages cannot be made to fit,
 * with the signal's reason, and with a `TypeError` for an invalid message.
 */
export type PrepareStep = <Message extends SdkMessage, Model extends ModelReference>(
  step: StepInput<Message, Model>,
) => Promise<PreparedStep<Message, Model>>;

/**
 * Creates a `prepareStep` for `generateText`, `streamText` and agents. It may be created anew for each run: with the
 * same compactor and equal options, a conversation continues in its session.
 *
 * @throws RangeError naming each invalid option.
 */
export function prepareStep(compactor: Compactor, options: PrepareStepOptions = {}): PrepareStep {
  const fields = checkedFields(options, 'adapter options');
  assertAdapterOptions(fields, ['signal', 'conversationId']);
  const { signal: givenSignal, conversationId: givenId, ...adapterOptions } = fields;
  const compact = messageCompactor<SdkMessage>(compactor, adapterOptions);
  const { signal, conversationId } = checkedCall({ signal: givenSignal, conversationId: givenId });
  return async <Message extends SdkMessage, Model extends ModelReference>(
    step: StepInput<Message, Model>,
  ) => {
    const {
      model,
      steps,
      messages: given,
      instructions,
    } = checkedFields<Partial<StepInput<Message, Model>>>(step, 'what a step is prepared with');
    const messages = checkedMessages(given, 'an array of messages as `messages` of a step');
    const last = asRecord(steps?.[steps.length - 1]);
    const usage = hasServerCalls(last?.['content']) ? undefined : asRecord(last?.['usage']);
    const details = asRecord(usage?.['inputTokenDetails']);
    const { cacheReadTokens, cacheWriteTokens } = details ?? {};
    let takeUsage = (_: CompactCall): void => undefined;
    let changedFrom = 0;
    const watched = watchedModel(model, compactor, {
      reportUsage: (told) => {
        takeUsage(told);
      },
      marked: (call) => markedCall(model, call, compacted, changedFrom),
    });
    const compacted = (await compact(messages, {
      ...describeModel(model ?? ''),
      signal,
      conversationId,
      overheadTokens: overheadOf(instructions),
      ...reportedUsage(usage?.['inputTokens'], cacheReadTokens, cacheWriteTokens),
      // For agents that ignore the returned model, `steps` of the next call has the usage of this step.
      answerUsage: watched && ((take) => void (takeUsage = take)),
      keepsCacheBefore: (index) => (changedFrom = index),
    })) as Message[];
    const isSame = isSameList(compacted, messages);
    return { ...(!isSame && { messages: compacted }), ...(watched && { model: watched }) };
  };
}
