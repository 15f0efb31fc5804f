// What a gateway can be told, with its defaults, and the check of that.

import { isIP } from 'node:net';
import { z } from 'zod';
import { parseOptions } from '../../main/host/parse-options.js';
import { isLogger, SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';

/** Whether a gateway passes requests on as they come, or compacts them. */
export type GatewayMode = 'observe' | 'compact';

/** How a gateway works. Every option has a default. */
export interface GatewayOptions {
  /** `observe`: requests leave as they came, and what would have been saved is worked out beside them. @default 'observe' */
  readonly mode?: GatewayMode | undefined;
  /** Where it listens. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** @default 0, any that is free */
  readonly port?: number | undefined;
  /** Has to be given by each request, as the header `x-ctxfold-token` or as `/token/<token>` in front of its path. Needed anywhere but on loopback. */
  readonly token?: string | undefined;
  /**
   * Where requests go, by name: `anthropic`, `openai` and `gemini` are told by their paths, others by `/<name>` in front of
   * these. Nothing else is ever sent to. @default the three providers' own
   */
  readonly upstreams?: Readonly<Record<string, string>> | undefined;
  /** Names or ids of conversations that are only observed, whatever the mode. @default none */
  readonly dry?: readonly string[] | undefined;
  /** Conversations that are remembered; the least recently used one makes way. @default 1_000 */
  readonly maxConversations?: number | undefined;
  /** Requests whose bodies are larger pass as they come. @default 33_554_432, 32 MB */
  readonly maxBodyBytes?: number | undefined;
  /** Connections at a time. @default 1_024 */
  readonly maxConnections?: number | undefined;
  /** How long a request waits for its compaction, in milliseconds, before it leaves as it came. @default 2_000 */
  readonly deadlineMs?: number | undefined;
  /** How long nothing may come from an upstream, in milliseconds. @default 900_000, a quarter of an hour */
  readonly idleTimeoutMs?: number | undefined;
  /** Tokens that the models accept. @default by the name of the model */
  readonly contextLimit?: number | undefined;
  /** The directory that relative paths in tool calls start from. @default the working directory */
  readonly workspaceRoot?: string | undefined;
  /** Where what goes is kept, a file for each conversation. @default nowhere */
  readonly removalLogDirectory?: string | undefined;
  /**
   * Where the states of conversations are kept, so that gateways start again and share them: `redis://…`, `postgres://…`, or the path
   * of a directory. @default in memory
   */
  readonly store?: string | undefined;
  /** `thread`: reading and compacting run on a thread of their own. @default 'thread' */
  readonly engine?: 'thread' | 'inline' | undefined;
  /** Returns the page for `/ctxfold`. @default there is none */
  readonly page?: (() => Promise<GatewayPage>) | undefined;
  /** Is told what failed, never what requests hold. @default one that says nothing */
  readonly logger?: Logger | undefined;
}

/** A page with the policy that it needs. */
export interface GatewayPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** The options with all defaults filled in. */
export type CompleteGatewayOptions = Pick<GatewayOptions, WithoutDefault> & {
  readonly [Key in Exclude<keyof GatewayOptions, WithoutDefault>]-?: Exclude<
    GatewayOptions[Key],
    undefined
  >;
};

type WithoutDefault =
  'token' | 'contextLimit' | 'workspaceRoot' | 'removalLogDirectory' | 'store' | 'page';

const UPSTREAMS: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
};

/** Is not taken for the path of an API. */
const UPSTREAM_NAME =
  /^(?!(?:ctxfold|token|v1|v1beta|responses|chat|models)$)[a-z][a-z0-9-]{0,31}$/;

const isFunction = (value: unknown): boolean => typeof value === 'function';

function isUpstream(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, username, password, search, hash } = new URL(value);
  return (
    ['http:', 'https:'].includes(protocol) && [username, password, search, hash].join('') === ''
  );
}

const SCHEMA = z.strictObject({
  mode: z.enum(['observe', 'compact']).default('observe'),
  host: z.string().min(1).default('127.0.0.1'),
  port: z.number().int().min(0).max(65_535).default(0),
  token: z
    .string()
    .regex(/^[\w-]{16,128}$/, 'expected 16 to 128 letters, digits, - and _')
    .optional(),
  upstreams: z
    .record(
      z.string().regex(UPSTREAM_NAME, 'expected a name such as my-provider'),
      z
        .string()
        .refine(isUpstream, 'expected a URL of http or https, without a password and a query'),
    )
    .default({})
    .transform((given) => ({ ...UPSTREAMS, ...given })),
  dry: z.array(z.string().min(1)).default([]),
  maxConversations: z.number().int().min(1).max(100_000).default(1_000),
  maxBodyBytes: z
    .number()
    .int()
    .min(0)
    .default(32 * 1024 * 1024),
  maxConnections: z.number().int().min(1).default(1_024),
  deadlineMs: z.number().int().min(1).default(2_000),
  idleTimeoutMs: z.number().int().min(1).default(900_000),
  contextLimit: z.number().int().positive().optional(),
  workspaceRoot: z.string().min(1).optional(),
  removalLogDirectory: z.string().min(1).optional(),
  store: z.string().min(1).optional(),
  engine: z.enum(['thread', 'inline']).default('thread'),
  page: z.custom<() => Promise<GatewayPage>>(isFunction, 'expected a function').optional(),
  logger: z
    .custom<Logger>(isLogger, 'expected an object with the functions debug, warn and error')
    .default(SILENT_LOGGER),
});

/** Checks options and fills in the defaults. @throws RangeError that names each one that is wrong. */
export function completeGatewayOptions(options: GatewayOptions): CompleteGatewayOptions {
  const complete = parseOptions('gateway options', SCHEMA, options) as CompleteGatewayOptions;
  if (complete.token === undefined && !isLoopback(complete.host)) {
    throw new RangeError(
      `Expected a token: ${complete.host} is not loopback, and whoever reaches the gateway could use it.`,
    );
  }
  return complete;
}

/** Whether nobody but this machine reaches an address. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
