// The options of adapters, and the arguments of each call.

import type { Compactor } from '../../main/compactor.js';
import { OPTION_PLACES } from '../../main/option-places.js';
import { CHECKS_OF_ADAPTERS, readSessionOptions } from '../../main/session-options.js';
import type { SessionOptions, SessionOptionsOfAdapters } from '../../main/session-options.js';
import { isLogger, SILENT_LOGGER, safeLogger } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';
import type { CompactMessages } from '../format/provider-compaction.js';
import { oneOf } from '../../main/preflight/edit-options.js';
import type { OddUsage } from '../../main/preflight/session-events.js';
import type { Session } from '../../main/session.js';
import { asError, CtxfoldError } from '../../shared/errors.js';
import {
  assertCount,
  assertFunction,
  assertKnownOptions,
  readOptions,
} from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';

/** What an adapter does if something in ctxfold fails. */
export type OnError = 'send-uncompacted' | 'throw';

/** Options of an adapter, all optional. Those of sessions have the same defaults as there. */
export interface AdapterOptions extends SessionOptionsOfAdapters {
  /** Conversations that are kept; the least recently used one is evicted. @default 32 */
  readonly maxConversations?: number | undefined;
  /**
   * Called with the session of each new conversation, before anything in it is edited. If it throws, the session
   * is closed, and the call fails with the code `CALLBACK_FAILED`.
   */
  readonly onSession?: ((session: Session) => void) | undefined;
  /**
   * What happens to a call if something in ctxfold fails. `send-uncompacted`: the messages are sent without further compaction, and
   * earlier edits stay; the logger and the session's event `fallback` say why. `throw`: the call fails. @default 'send-uncompacted'
   */
  readonly onError?: OnError | undefined;
  /** Errors that it throws are ignored. @default the compactor's */
  readonly logger?: Logger | undefined;
}

/** Arguments of one call. */
export interface CompactCall {
  /** Aborts the call, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names the conversation. If its messages do not continue the known ones, it starts over in a session with
   * the same id. @default the conversation is recognized by its messages
   */
  readonly conversationId?: string | undefined;
  /** The model that the messages go to. Determines the context window and prices. @default a window of 128,000 tokens and usual prices */
  readonly modelName?: string | undefined;
  /**
   * Tokens of what this request holds beside the messages, such as system text and tools, in the model's own tokens; may be an
   * estimate. The `overheadTokens` of the adapter and of the compactor take precedence, and reported usage corrects it.
   * @default middleware estimates it; else 0
   */
  readonly overheadTokens?: number | undefined;
  /**
   * Tokens that the provider reported for the previous request, including cached ones. Calibrates the estimates for the model, and
   * without the adapter's `overheadTokens` also how much a request holds beside its messages.
   */
  readonly reportedInputTokens?: number | undefined;
  /** The part of `reportedInputTokens` that came from the provider's cache, for the session's event `cacheMissed`. */
  readonly reportedCacheReadTokens?: number | undefined;
  /** The reason that the provider gave for a cache miss of that request. */
  readonly reportedCacheMissReason?: string | undefined;
  /** Reported numbers that are implausible, instead of the fields above, for the session's event `oddUsage`. */
  readonly oddUsage?: OddUsage | undefined;
  /**
   * How long the request asks the provider to cache it, in milliseconds, if it does so outside the messages. @default from the
   * marks on the messages, else from the model
   */
  readonly cacheTtlMs?: number | undefined;
  /**
   * Called with a callback that takes the usage of this call's own answer once that is known, as the arguments above, or a `refusal`
   * that comes once the answer has begun: the next call is edited to avoid the same refusal. Middleware provides it. @default not
   * available
   */
  readonly answerUsage?: ((take: (usage: CompactCall) => void) => void) | undefined;
  /**
   * Called if an edit has changed messages that were sent before, with the index of the first such message in the returned list: the
   * provider has cached what is in front of it. Middleware and `prepareStep` use it to mark that place. @default not told
   */
  readonly keepsCacheBefore?: ((index: number) => void) | undefined;
  /** Asks the provider to compact, for the strategy `provider`. Middleware provides it if it can. @default not available */
  readonly compactByProvider?: CompactMessages | undefined;
  /** The reasoning policy that suits the model, if the adapter has no such option. @default by `modelName` for Claude, else 'keep' */
  readonly reasoning?: SessionOptions['reasoning'];
  /**
   * What the provider refused these messages with, as they were last returned: what the call threw, or the text of its answer. If
   * reasoning was "bound to a different conversation", all reasoning is left out; if the messages were too long, they are made to
   * fit. Middleware repeats a refused call by itself. @default nothing was refused
   */
  readonly refusal?: unknown;
}

const DEFAULT_MAX_CONVERSATIONS = 32;

const CHECKS: Checks<AdapterOptions & { readonly removalLogPath?: undefined }> = {
  ...CHECKS_OF_ADAPTERS,
  onError: oneOf('send-uncompacted', 'throw'),
  maxConversations: assertCount,
  removalLogPath: () => {
    throw new TypeError('Expected removalLogDirectory: adapters name the files themselves.');
  },
  onSession: assertFunction,
  logger: (name, value) => {
    if (!isLogger(value))
      throw new TypeError(`Expected ${name} to be an object with debug, warn and error.`);
  },
};

/** Adapter options with defaults filled in. */
export type CompleteAdapterOptions = AdapterOptions & {
  readonly maxConversations: number;
  readonly onError: OnError;
  readonly logger: Logger;
};

/** Returns the options that are passed to sessions. */
export function optionsOfSession({
  maxConversations: _max,
  onSession: _onSession,
  onError: _onError,
  logger: _logger,
  ...options
}: CompleteAdapterOptions): SessionOptionsOfAdapters {
  return options;
}

/** Calls `onSession`. If it throws, closes the session. @throws CtxfoldError `CALLBACK_FAILED` */
export async function callOnSession(
  session: Session,
  { onSession, logger }: CompleteAdapterOptions,
): Promise<void> {
  try {
    // A JavaScript caller may pass an async function; the turn does not wait for it.
    Promise.resolve<unknown>(onSession?.(session)).catch((thrown: unknown) => {
      logger.error('onSession rejected', { error: asError(thrown) });
    });
  } catch (cause) {
    await session.close();
    throw new CtxfoldError(
      `onSession threw: ${asError(cause).message}. The session is closed; the next call begins another one.`,
      'CALLBACK_FAILED',
      { cause },
    );
  }
}

/**
 * Checks the names of options.
 *
 * @param own names of further options, of one adapter
 * @throws RangeError naming each unknown one
 */
export function assertAdapterOptions(options: object, own: readonly string[] = []): void {
  const known = [...Object.keys(CHECKS), ...own];
  assertKnownOptions('adapter options', { ...options }, known, OPTION_PLACES);
}

/** The logger of an adapter: its own, else the compactor's. */
export function loggerOf(compactor: Compactor, { logger }: AdapterOptions = {}): Logger {
  // A host that wraps a compactor may have left its logger out.
  return safeLogger(logger ?? (compactor as Partial<Compactor>).logger ?? SILENT_LOGGER);
}

/** Checks options and fills in defaults. @throws RangeError naming the invalid option. */
export function completeAdapterOptions(
  compactor: Compactor,
  options: AdapterOptions,
): CompleteAdapterOptions {
  try {
    // First: what is no logger cannot be wrapped.
    readOptions('adapter options', options, CHECKS, OPTION_PLACES);
    const complete = {
      ...options,
      onError: options.onError ?? 'send-uncompacted',
      maxConversations: options.maxConversations ?? DEFAULT_MAX_CONVERSATIONS,
      logger: loggerOf(compactor, options),
    };
    readSessionOptions(optionsOfSession(complete), OPTION_PLACES);
    return complete;
  } catch (cause) {
    // Callers of adapters get one kind of error for all options.
    throw new RangeError(asError(cause).message, { cause });
  }
}
