// The main-thread cost of one more message at the end of a long array, as SDKs pass it before each call, relative to reading the
// whole array once.

import type { MessageParam } from '@anthropic-ai/sdk/resources/messages';
import type { ModelMessage } from 'ai';
import { messageCompactor as sdkMessageCompactor } from '../src/adapters/ai-sdk/message-compactor.js';
import { MODEL_MESSAGE_FORMAT } from '../src/adapters/ai-sdk/sdk-message-format.js';
import { messageCompactor as messageParamCompactor } from '../src/adapters/anthropic/message-compactor.js';
import { MESSAGE_PARAM_FORMAT } from '../src/adapters/anthropic/message-param-format.js';
import type { MessageCompactor } from '../src/adapters/conversation/message-compactor.js';
import { createCompactor } from '../src/index.js';
import type { Compactor, IContent } from '../src/index.js';
import { readAll } from '../test/support/read-all.js';
import { check } from './support/check.js';
import { timeThread } from './support/main-thread.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { toMessageParam } from './support/message-params.js';
import { toModelMessage } from './support/model-messages.js';
import { ENDLESS_CONTEXT, followingOf, historyOf, runsFor } from './support/sessions.js';
import { median, medianMs } from './support/timing.js';

const SCOPE = 'adapters';
const WARM_UP_TURNS = 10;
const TURNS = 30;
const BETWEEN_TURNS_MS = 1;
const GOAL_ENTRIES = 10_000;
const GOAL_SHARE = 0.1;
/** The same when every message is a new object. */
const REBUILT_GOAL_SHARE = 0.3;

/** How an SDK passes its messages. */
interface HandOver<Message> {
  readonly name: string;
  /** Reads all messages as entries. Returns their number. */
  readonly read: (messages: readonly Message[]) => number;
  readonly compactorOf: (compactor: Compactor) => MessageCompactor<Message>;
  readonly toMessage: (entry: IContent) => Message;
  /** Whether the SDK rebuilds every message for each call, so that they can only be recognized by content. */
  readonly isRebuilt: boolean;
}

const MODEL_MESSAGES: HandOver<ModelMessage> = {
  name: 'AI SDK messages',
  read: (messages) => readAll(MODEL_MESSAGE_FORMAT.createReader(), messages, 0).entries.length,
  compactorOf: sdkMessageCompactor,
  toMessage: toModelMessage,
  isRebuilt: false,
};

const MESSAGE_PARAMS: HandOver<MessageParam> = {
  name: 'Anthropic messages',
  read: (messages) => readAll(MESSAGE_PARAM_FORMAT.createReader(), messages, 0).entries.length,
  compactorOf: messageParamCompactor,
  toMessage: toMessageParam,
  isRebuilt: false,
};

export async function measureAdapters({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    for (const result of [
      await measure(entries, MODEL_MESSAGES),
      await measure(entries, {
        ...MODEL_MESSAGES,
        name: 'AI SDK messages, rebuilt',
        isRebuilt: true,
      }),
      await measure(entries, MESSAGE_PARAMS),
    ]) {
      measurements.push(...result.measurements);
      if (entries === GOAL_ENTRIES) goals.push(...result.goals);
    }
  }
  return { measurements, goals };
}

async function measure<Message extends { readonly role: string }>(
  entries: number,
  { name, read, compactorOf, toMessage, isRebuilt }: HandOver<Message>,
): Promise<ScopeResult> {
  const messages = historyOf(entries).map(toMessage);
  const following = followingOf(entries).map(toMessage);
  const runs = runsFor(entries, 15);
  const readMs = medianMs({ runs, prepare: () => messages }, (all) => {
    check(read(all) === all.length, 'not each message was read as one entry');
  });

  await using compactor = createCompactor({ contextLimit: ENDLESS_CONTEXT, workspaceRoot: '/w' });
  const compact = compactorOf(compactor);
  await compact(messages);
  const busyMs: number[] = [];
  for (let turn = 0; turn < WARM_UP_TURNS + TURNS; turn += 1) {
    const message = following[turn];
    check(message !== undefined, 'there are too few messages for the turns');
    messages.push(message);
    const given = isRebuilt ? messages.map(rebuilt) : messages;
    let sent: readonly Message[] = [];
    const time = await timeThread(async () => {
      sent = await compact(given);
    }, BETWEEN_TURNS_MS);
    check(sent.at(-1)?.role === given.at(-1)?.role, 'the new message was not sent');
    check(sent.length <= messages.length, 'messages were added');
    if (turn >= WARM_UP_TURNS) busyMs.push(time.busyMs);
  }
  check(compact.report().length === 1, 'a conversation was not recognized');
  const [report] = compact.report();
  check(report?.givenMessages === messages.length, 'not each message was taken in once');

  const busy = `${name}, one more, busy`;
  const value = median(busyMs);
  return {
    measurements: [
      { scope: SCOPE, name: `${name}, reading all`, entries, value: readMs, unit: 'ms', runs },
      { scope: SCOPE, name: busy, entries, value, unit: 'ms', runs: TURNS },
    ],
    goals: [
      {
        name: `${busy}, of reading all (10,000)`,
        value: value / readMs,
        limit: isRebuilt ? REBUILT_GOAL_SHARE : GOAL_SHARE,
      },
    ],
  };
}

/** A deep copy that shares the strings, as SDKs make them. */
function rebuilt<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(rebuilt) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, rebuilt(member as unknown)]),
  ) as Value;
}
