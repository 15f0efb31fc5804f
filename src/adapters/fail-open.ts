// What an adapter does when something in ctxfold fails: the model is sent the messages as they were given, and it is said so.

import { asError } from '../shared/errors.js';
import type { CompactCall, CompleteAdapterOptions } from './adapter-options.js';

/** The function form of an adapter, without its report. */
export type Compact<Message> = (
  messages: readonly Message[],
  call?: CompactCall,
) => Promise<Message[]>;

let isTold = false;

/**
 * Makes a function that returns the messages as they were given when the compaction of them fails, as the options say.
 * What is no list of messages is refused still, and a signal ends the call.
 */
export function failOpen<Message>(
  { onError, logger, isLogged }: CompleteAdapterOptions,
  compact: Compact<Message>,
): Compact<Message> {
  if (onError === 'throw') return compact;
  return async (messages, call) => {
    // A copy: the caller's own list may grow while this waits.
    const given = copyOf(messages);
    try {
      return await compact(messages, call);
    } catch (thrown) {
      if (given === undefined || isAborted(call)) throw thrown;
      const error = asError(thrown);
      logger.warn('compaction failed; the messages are sent as they are', { error });
      if (!isLogged) warnOnce(error);
      return given;
    }
  };
}

/** `undefined` for what is no list that can be read. */
function copyOf<Message>(messages: readonly Message[]): Message[] | undefined {
  try {
    if (!Array.isArray(messages)) return undefined;
    return Array.from({ length: messages.length }, (_, at) => messages[at] as Message);
  } catch {
    // The compaction meets the same, and says what it was.
    return undefined;
  }
}

function isAborted(call: CompactCall | undefined): boolean {
  const signal: unknown = call?.signal;
  return typeof signal === 'object' && signal !== null && (signal as AbortSignal).aborted;
}

/** Nobody listens who could be told: the process says it, without what the messages hold. */
function warnOnce({ name }: Error): void {
  if (isTold) return;
  isTold = true;
  process.emitWarning(
    `Compaction failed (${name}), and the messages were sent as they are. Give the adapter a logger to see why, or onError: 'throw'.`,
    { type: 'CtxfoldWarning', code: 'CTXFOLD_SENT_UNCOMPACTED' },
  );
}
