// The options of a compactor, and their validation.

import * as z from 'zod/mini';
import { pathIn } from '../shared/density/index/text-table.js';
import { hasFunctions } from '../shared/misuse.js';
import { isLogger, SILENT_LOGGER, safeLogger } from './host/logger.js';
import type { Logger } from './host/logger.js';
import { parseOptions } from './host/parse-options.js';
import type { OwnPrices } from './models/model-prices.js';
import { OFFLOAD_MODES } from './offload/offload.js';
import type { OffloadMode } from './offload/offload.js';
import type { EphemeralSettings } from './settings/ephemeral-settings.js';
import { EPHEMERAL_SETTINGS_SCHEMA } from './settings/ephemeral-settings-schema.js';
import { SETTING_KEYS } from './settings/settings-registry.js';
import type { OptionsElsewhere } from '../shared/misuse.js';
import type { StateStore } from './state/state-store.js';
import { isSummarizer } from './summarizer/summarizer.js';
import type { Summarizer } from './summarizer/summarizer.js';
import type { Tokenizer } from './tokens/token-counter.js';

/** How a compactor works. Every option has a default. */
export interface CompactorOptions {
  /**
   * Which defaults sessions and adapters get. `specification`: the documented system, without a working set, with its nine
   * tools and edits before every send. @default defaults for agents: tools recognized by name and parameters, a working set,
   * batched edits
   */
  readonly preset?: 'specification' | undefined;
  /**
   * Tokens that the model accepts, or a function that returns it for the model names it knows. A lower limit named by the provider
   * applies instead. @default by the model's name, if sessions are told of it, or as the provider has said; 128_000 for
   * an unknown model, and 200_000 with the preset `specification`
   */
  readonly contextLimit?: number | ((modelName: string) => number | undefined) | undefined;
  /**
   * System text and tool schemas of every request, in the model's own tokens: the part of the window that the history cannot
   * use. @default learned from reported usage; 0 before any, adapters estimate it
   */
  readonly overheadTokens?: number | undefined;
  /** The directory that relative paths in tool calls are resolved against. @default the working directory */
  readonly workspaceRoot?: string | undefined;
  /**
   * Where work runs. `inline`: on the calling thread. `snapshot`: on worker threads, copying the history for each pass.
   * `resident`: on a worker thread that keeps a copy of the history and receives deltas. `auto`: passes run inline while a
   * history is short and resident beyond that; tokens are counted on worker threads. Work that fails on a worker runs inline.
   * @default 'auto'
   */
  readonly offload?: OffloadMode | undefined;
  /**
   * How many sessions may have their history on a worker thread at a time; the least recently used are evicted.
   *
   * @default 1_000
   */
  readonly maxResidentSessions?: number | undefined;
  /** Worker threads. @default one less than the number of processors, 1 or 2 */
  readonly threads?: number | undefined;
  /** Initial `settings` of each session. They override the profile. */
  readonly settings?: EphemeralSettings | undefined;
  /** Saved settings, as `loadProfile` returns them. */
  readonly profile?: EphemeralSettings | undefined;
  /**
   * The model that `middle-out` and `one-shot` summarize with, or a function that returns it for the name in the setting
   * `compression.profile`.
   */
  readonly summarizer?: Summarizer | SummarizerOfProfile | undefined;
  /**
   * What models charge, in dollars per million tokens, by model id; `*` applies to all models that are not listed here, `default`
   * to those that are neither here nor in the price table. Decides when edits land, and what `costs()` reports. @default the prices
   * that `modelPrice` knows
   */
  readonly prices?: OwnPrices | undefined;
  /** Directory with your own prompts; `compression.md` replaces the bundled one. */
  readonly promptDirectory?: string | undefined;
  /** How tokens are counted. @default 'o200k' */
  readonly tokenizer?: Tokenizer | undefined;
  /**
   * Stores the state of sessions, so that any process can continue a conversation: a store of `ctxfold/state`, `ctxfold/redis`
   * or `ctxfold/postgres`, one of your own, or the path of a directory. A conversation is found by its `sessionId` or
   * `conversationId` if it has one, else by its first entries. @default states are kept in this process's memory, up to a size
   * limit
   */
  readonly store?: StateStore | string | undefined;
  /** Where warnings go, and debug lines of each call, such as `console`. @default none: the first failure of an adapter is a process warning */
  readonly logger?: Logger | undefined;
}

/** Returns the summarizer for a profile's name, or the default one when no profile is set. */
export type SummarizerOfProfile = (profile: string | undefined) => Summarizer;

const isFunction = (value: unknown): boolean => typeof value === 'function';

const DOLLARS = z.number().check(z.nonnegative());
const TOKENS = z.int().check(z.nonnegative());
const TEXT = z.string().check(z.minLength(1));

const TOKEN_PRICE = { input: DOLLARS, cacheRead: DOLLARS, cacheWrite: DOLLARS } as const;
const ABOVE_ZERO = z.number().check(z.positive());

const OWN_PRICES_SCHEMA = z.record(
  TEXT,
  z.strictObject({
    ...TOKEN_PRICE,
    name: z.optional(z.string()),
    output: z.optional(DOLLARS),
    above: z.optional(z.strictObject({ ...TOKEN_PRICE, promptTokens: ABOVE_ZERO })),
    lifetimes: z.optional(z.array(z.strictObject({ ttlMs: ABOVE_ZERO, cacheWrite: DOLLARS }))),
    leastCachedTokens: z.optional(TOKENS),
  }),
);

const OPTIONS_SCHEMA = z.strictObject({
  preset: z.optional(z.literal('specification')),
  contextLimit: z.optional(
    z.union(
      [
        z.int().check(z.positive()),
        z.custom<(modelName: string) => number | undefined>(isFunction),
      ],
      'expected a whole number of tokens above 0, or a function of the model name that returns one',
    ),
  ),
  overheadTokens: z.optional(TOKENS),
  // Resolve the path now: a pass may run later, in a worker.
  workspaceRoot: z._default(
    z.pipe(
      TEXT,
      z.transform((root) => pathIn(process.cwd(), root)),
    ),
    () => process.cwd(),
  ),
  offload: z._default(z.enum(OFFLOAD_MODES), 'auto'),
  maxResidentSessions: z._default(z.int().check(z.gte(1)), 1_000),
  threads: z.optional(z.int().check(z.gte(1), z.lte(64))),
  settings: z._default(EPHEMERAL_SETTINGS_SCHEMA, {}),
  profile: z._default(EPHEMERAL_SETTINGS_SCHEMA, {}),
  summarizer: z.optional(
    z.custom<Summarizer | SummarizerOfProfile>(
      (value) => isFunction(value) || isSummarizer(value),
      'expected an object with a generate function, a contextLimit and perhaps a timeoutMs, or a function that returns one',
    ),
  ),
  prices: z.optional(OWN_PRICES_SCHEMA),
  promptDirectory: z.optional(TEXT),
  tokenizer: z._default(
    z.union(
      [
        z.enum(['o200k', 'estimate']),
        z.custom<Exclude<Tokenizer, string>>((value) => hasFunctions(value, ['countTokens'])),
      ],
      "expected 'o200k', 'estimate', or an object with a countTokens function",
    ),
    'o200k',
  ),
  store: z.optional(
    z.union(
      [TEXT, z.custom<StateStore>((value) => hasFunctions(value, ['load', 'save', 'delete']))],
      'expected a store, with the functions load, save and delete, or the path of a directory',
    ),
  ),
  logger: z._default(
    z.custom<Logger>(isLogger, 'expected an object with the functions debug, warn and error'),
    // A function, because zod copies other defaults, and this logger is known by its identity.
    () => SILENT_LOGGER,
  ),
});

export const COMPACTOR_OPTIONS: readonly string[] = Object.keys(OPTIONS_SCHEMA.shape);

/** The options with all defaults filled in. */
export type CompleteCompactorOptions = Pick<CompactorOptions, WithoutDefault> & {
  readonly [Key in Exclude<keyof CompactorOptions, WithoutDefault>]-?: Exclude<
    CompactorOptions[Key],
    undefined
  >;
};

const DOCUMENTED_CONTEXT_LIMIT = 200_000;

type WithoutDefault =
  | 'preset'
  | 'contextLimit'
  | 'overheadTokens'
  | 'threads'
  | 'summarizer'
  | 'prices'
  | 'promptDirectory'
  | 'store';

/**
 * Validates options and fills in the defaults.
 *
 * @param elsewhere see `assertKnownOptions`
 * @throws TypeError if `options` is not an object; RangeError that names each invalid option.
 */
export function completeCompactorOptions(
  options: CompactorOptions,
  elsewhere: OptionsElsewhere,
): CompleteCompactorOptions {
  const complete = parseOptions('compactor options', OPTIONS_SCHEMA, options, {
    '`settings`': SETTING_KEYS,
    ...elsewhere,
  });
  const { preset, contextLimit = preset && DOCUMENTED_CONTEXT_LIMIT } = complete;
  return { ...complete, contextLimit, logger: safeLogger(complete.logger) };
}
