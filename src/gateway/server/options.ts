// The options of a gateway, their defaults, and their validation.

import { isIP } from 'node:net';
import * as z from 'zod/mini';
import { parseOptions } from '../../main/host/parse-options.js';
import { isLogger, SILENT_LOGGER } from '../../main/host/logger.js';
import type { Logger } from '../../main/host/logger.js';

/** Whether a gateway forwards requests unchanged, or compacts them. */
export type GatewayMode = 'observe' | 'compact';

/** Options of a gateway, all optional. */
export interface GatewayOptions {
  /** `observe`: forwards requests unchanged, and computes in parallel what compaction would save. @default 'observe' */
  readonly mode?: GatewayMode | undefined;
  /** The address to listen on. @default '127.0.0.1' */
  readonly host?: string | undefined;
  /** The port to listen on. @default 0, any free port */
  readonly port?: number | undefined;
  /**
   * Required with each request, as the header `x-ctxfold-token` or as the prefix `/token/<token>` of its path: 16 to 128 letters,
   * digits, `-` and `_`. Mandatory except on loopback.
   */
  readonly token?: string | undefined;
  /**
   * URLs that requests are forwarded to, by name: `anthropic`, `openai`, `gemini`, `azure`, `bedrock` and `vertex` are recognized by
   * their paths, others by the prefix `/<name>`. No other URL is ever used. @default the public URLs of the first three
   */
  readonly upstreams?: Readonly<Record<string, string>> | undefined;
  /**
   * Variables that name a proxy to `https` upstreams, `HTTPS_PROXY` and `NO_PROXY`, as Node's agents take them; the command line passes
   * its environment. Needs Node 24.5 or newer; older versions connect directly. @default no proxy
   */
  readonly proxyEnv?: Readonly<Record<string, string | undefined>> | undefined;
  /** Names or ids of conversations that are only observed, whatever the mode. @default none */
  readonly dry?: readonly string[] | undefined;
  /** Number of conversations that are kept; beyond it, the least recently used one is evicted. @default 1_000 */
  readonly maxConversations?: number | undefined;
  /** Limit for bodies, in bytes. Requests with larger bodies are forwarded unchanged. @default 33_554_432, 32 MB */
  readonly maxBodyBytes?: number | undefined;
  /** Limit for simultaneous connections of clients. @default 1_024 */
  readonly maxConnections?: number | undefined;
  /** How long a request waits for its compaction, in milliseconds, before it is forwarded unchanged. @default 2_000 */
  readonly deadlineMs?: number | undefined;
  /** How long an upstream may send nothing, in milliseconds, before the request fails. @default 900_000, a quarter of an hour */
  readonly idleTimeoutMs?: number | undefined;
  /** Context window of the models, in tokens. @default by the name of the model */
  readonly contextLimit?: number | undefined;
  /** The directory that relative paths in tool calls start from. @default the working directory */
  readonly workspaceRoot?: string | undefined;
  /** The directory for removal logs, which keep the originals of edits: one file per conversation. @default no logs */
  readonly removalLogDirectory?: string | undefined;
  /**
   * The store for states of conversations, which survive restarts and are shared by gateways: `redis://…`, `postgres://…`, or the path
   * of a directory. @default in memory
   */
  readonly store?: string | undefined;
  /** `thread`: requests are read and compacted on a separate thread. @default 'thread' */
  readonly engine?: 'thread' | 'inline' | undefined;
  /** Returns the page for `/ctxfold`. @default there is none */
  readonly page?: (() => Promise<GatewayPage>) | undefined;
  /** Receives failures as warnings, each at most once a minute, and never content of requests. @default logs nothing */
  readonly logger?: Logger | undefined;
}

/** A page, and the content security policy that it needs. */
export interface GatewayPage {
  readonly html: string;
  readonly contentSecurityPolicy: string;
}

/** Options with defaults filled in. */
export type CompleteGatewayOptions = Pick<GatewayOptions, WithoutDefault> & {
  readonly [Key in Exclude<keyof GatewayOptions, WithoutDefault>]-?: Exclude<
    GatewayOptions[Key],
    undefined
  >;
};

type WithoutDefault =
  | 'token'
  | 'proxyEnv'
  | 'contextLimit'
  | 'workspaceRoot'
  | 'removalLogDirectory'
  | 'store'
  | 'page';

const UPSTREAMS: Readonly<Record<string, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
};

/** Names of upstreams. Excludes names with which paths of APIs or of the gateway start. */
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

const TOKEN = 'The option is token; the command line reads CTXFOLD_GATEWAY_TOKEN';
const TEXT = z.string().check(z.minLength(1));
const COUNT = z.int().check(z.gte(1));

const SCHEMA = z.strictObject({
  mode: z._default(z.enum(['observe', 'compact']), 'observe'),
  host: z._default(TEXT, '127.0.0.1'),
  port: z._default(z.int().check(z.gte(0), z.lte(65_535)), 0),
  token: z.optional(
    z
      .string()
      .check(z.regex(/^[\w-]{16,128}$/, `expected 16 to 128 letters, digits, - and _. ${TOKEN}`)),
  ),
  upstreams: z.pipe(
    z._default(
      z.record(
        z.string().check(z.regex(UPSTREAM_NAME)),
        z
          .string()
          .check(
            z.refine(isUpstream, 'expected a URL of http or https, without a password and a query'),
          ),
        {
          error: ({ code }) =>
            code === 'invalid_key' ? 'expected a name such as my-provider' : undefined,
        },
      ),
      {},
    ),
    z.transform((given) => ({ ...UPSTREAMS, ...given })),
  ),
  proxyEnv: z.optional(z.record(z.string(), z.optional(z.string()))),
  dry: z._default(z.array(TEXT), []),
  maxConversations: z._default(COUNT.check(z.lte(100_000)), 1_000),
  maxBodyBytes: z._default(z.int().check(z.gte(0)), 32 * 1024 * 1024),
  maxConnections: z._default(COUNT, 1_024),
  deadlineMs: z._default(COUNT, 2_000),
  idleTimeoutMs: z._default(COUNT, 900_000),
  contextLimit: z.optional(z.int().check(z.positive())),
  workspaceRoot: z.optional(TEXT),
  removalLogDirectory: z.optional(TEXT),
  store: z.optional(TEXT),
  engine: z._default(z.enum(['thread', 'inline']), 'thread'),
  page: z.optional(z.custom<() => Promise<GatewayPage>>(isFunction, 'expected a function')),
  logger: z._default(
    z.custom<Logger>(isLogger, 'expected an object with the functions debug, warn and error'),
    () => SILENT_LOGGER,
  ),
});

/** Checks options and fills in defaults. @throws RangeError naming each invalid option. */
export function completeGatewayOptions(options: GatewayOptions): CompleteGatewayOptions {
  const complete = parseOptions('gateway options', SCHEMA, options) as CompleteGatewayOptions;
  if (complete.token === undefined && !isLoopback(complete.host)) {
    throw new RangeError(
      `Expected a token: ${complete.host} is not loopback, and whoever reaches the gateway could use it. ` +
        `${TOKEN}.`,
    );
  }
  return complete;
}

/** Whether an address can be reached from this machine only. */
export function isLoopback(host: string): boolean {
  if (host === 'localhost' || host === '::1') return true;
  return isIP(host) === 4 && host.startsWith('127.');
}
