// What adapters can be told: once, when one is made, and with each call.

import { z } from 'zod';
import type { SessionOptions } from '../main/session-options.js';
import { isLogger, SILENT_LOGGER, safeLogger } from '../main/host/logger.js';
import type { Logger } from '../main/host/logger.js';
import type { CompactMessages } from './provider-compaction.js';
import type { OddUsage } from '../main/preflight/session-events.js';
import type { Session } from '../main/session.js';
import { assertDensityOptions } from '../shared/density-options.js';
import { assertKnownOptions } from '../shared/misuse.js';

/** What the sessions of an adapter are made with. */
type SessionSettings = Pick<
  SessionOptions,
  | 'edits'
  | 'minReclaimTokens'
  | 'cacheTtlMs'
  | 'reasoning'
  | 'density'
  | 'activeTodos'
  | 'overheadTokens'
  | 'removalLogDirectory'
  | 'canRecall'
>;

/** What an adapter may do when something in ctxfold fails. */
export type OnError = 'send-uncompacted' | 'throw';

/** How an adapter works. Every option has a default; those of sessions have the sessions' own. */
export interface AdapterOptions extends SessionSettings {
  /** Conversations that are remembered; the least recently used one makes way. @default 32 */
  readonly maxConversations?: number | undefined;
  /**
   * Told of the session of each new conversation, before anything is edited in it. When it throws, the session
   * is closed, and the call fails with the code `CALLBACK_FAILED`.
   */
  readonly onSession?: ((session: Session) => void) | undefined;
  /**
   * What becomes of a call when something in ctxfold fails. `send-uncompacted`: the messages are sent as they were given; the logger
   * and the session's event `fallback` say why. `throw`: the call fails. @default 'send-uncompacted'
   */
  readonly onError?: OnError | undefined;
  /** What it throws is ignored. @default one that says nothing */
  readonly logger?: Logger | undefined;
}

/** What is known about one call. */
export interface CompactCall {
  /** Ends the call; it rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /**
   * Names the conversation. One that does not go on where it stood starts over then, in a session of
   * the same id. @default the conversation is recognized by its messages
   */
  readonly conversationId?: string | undefined;
  /** The model that the messages go to. */
  readonly modelName?: string | undefined;
  /**
   * Tokens that the provider reported for the request before this one, cached ones included. Used only
   * with `overheadTokens`, without which it says nothing about the messages, and beside `reportedCacheReadTokens`.
   */
  readonly reportedInputTokens?: number | undefined;
  /** Those of `reportedInputTokens` that came from the provider's cache, for the session's event `cacheMissed`. */
  readonly reportedCacheReadTokens?: number | undefined;
  /** The provider's own word for why that request missed its cache. */
  readonly reportedCacheMissReason?: string | undefined;
  /** What was reported in place of these and cannot be, for the session's event `oddUsage`. */
  readonly oddUsage?: OddUsage | undefined;
  /**
   * How long the request asks the provider's cache to keep it, in milliseconds, where that stands beside the messages. @default as the
   * marks on the messages say, else as the model has it
   */
  readonly cacheTtlMs?: number | undefined;
  /** Asks the provider to compact, for the strategy `provider`. Middleware that can brings it by itself. @default nothing can */
  readonly compactByProvider?: CompactMessages | undefined;
  /** What the model wants done with reasoning; for a new conversation whose adapter was told nothing. @default 'keep' */
  readonly reasoning?: SessionOptions['reasoning'];
}

const DEFAULT_MAX_CONVERSATIONS = 32;

const isFunction = (value: unknown): boolean => typeof value === 'function';

/** What a session checks itself is left to it. */
const OPTIONS_SCHEMA: z.ZodType = z.looseObject({
  onError: z.enum(['send-uncompacted', 'throw']).optional(),
  maxConversations: z.number().int().min(1).optional(),
  removalLogPath: z
    .undefined('Adapters name the files themselves; give removalLogDirectory')
    .optional(),
  onSession: z.custom(isFunction, 'Expected a function').optional(),
  activeTodos: z.custom(isFunction, 'Expected a function').optional(),
  logger: z.custom(isLogger, 'Expected an object with debug, warn and error').optional(),
});

const OPTIONS: readonly string[] = Object.keys({
  edits: true,
  minReclaimTokens: true,
  cacheTtlMs: true,
  reasoning: true,
  density: true,
  activeTodos: true,
  overheadTokens: true,
  removalLogDirectory: true,
  canRecall: true,
  maxConversations: true,
  onSession: true,
  onError: true,
  logger: true,
} satisfies Record<keyof AdapterOptions, true>).concat('removalLogPath', 'isLogged');

/** The options with what has a default of its own filled in. */
export type CompleteAdapterOptions = AdapterOptions & {
  readonly maxConversations: number;
  readonly onError: OnError;
  readonly logger: Logger;
  /** Whether the host has given a logger. */
  readonly isLogged: boolean;
};

/** Checks options and fills in the defaults. @throws RangeError that names each option that is wrong. */
export function completeAdapterOptions(options: AdapterOptions): CompleteAdapterOptions {
  assertKnownOptions('adapter options', { ...options }, OPTIONS);
  if (options.density !== undefined) assertDensityOptions('density', options.density);
  const parsed = OPTIONS_SCHEMA.safeParse(options);
  if (!parsed.success) {
    throw new RangeError(`Invalid adapter options.\n${z.prettifyError(parsed.error)}`);
  }
  return {
    ...options,
    onError: options.onError ?? 'send-uncompacted',
    isLogged: options.logger !== undefined,
    maxConversations: options.maxConversations ?? DEFAULT_MAX_CONVERSATIONS,
    logger: options.logger === undefined ? SILENT_LOGGER : safeLogger(options.logger),
  };
}
