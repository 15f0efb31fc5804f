// A store in Redis or Valkey, using a client of the host's: compare-and-save is one script on the server. Loads no client.

import { completeStoreOptions } from './state-store.js';
import type {
  SaveOutcome,
  StateStore,
  StoredState,
  StoreLimits,
  StoreOptions,
} from './state-store.js';

/** A client of `redis` (`sendCommand`) or `ioredis` (`call`), opened and closed by its owner. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> };

export interface RedisStoreOptions extends StoreOptions {
  /** Prefix of all keys. @default 'ctxfold:' */
  readonly prefix?: string | undefined;
}

const SAVE = `
local kept = redis.call('HMGET', KEYS[1], 'version', 'state')
local version = kept[2] and kept[1] or ''
if version ~= ARGV[1] then return 0 end
local now = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'state', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return now`;

/** The version stays, so that version numbers are not reused. */
const DELETE = `
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'state')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

const PUT = `
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

/** Makes a store of a client. @throws TypeError for anything but a client. */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): StateStore {
  return new RedisStore(commandsOf(client), options);
}

type Command = (...args: string[]) => Promise<unknown>;

/** `ioredis` has a `sendCommand`, too, with another signature. */
function commandsOf(client: RedisClient): Command {
  if ('call' in client && typeof client.call === 'function') {
    return (command = '', ...args) => client.call(command, ...args);
  }
  if ('sendCommand' in client && typeof client.sendCommand === 'function') {
    return (...args) => client.sendCommand(args);
  }
  throw new TypeError('Expected a client of `redis` or `ioredis`.');
}

class RedisStore implements StateStore {
  readonly limits: StoreLimits;
  readonly #command: Command;
  readonly #prefix: string;
  readonly #ttlMs: string;

  constructor(command: Command, { prefix = 'ctxfold:', ...options }: RedisStoreOptions) {
    const { ttlMs, ...limits } = completeStoreOptions(options);
    this.limits = limits;
    this.#command = command;
    this.#prefix = prefix;
    this.#ttlMs = String(Math.ceil(ttlMs));
  }

  async load(key: string): Promise<StoredState | null> {
    const found = await this.#command('HMGET', this.#stateKey(key), 'version', 'state');
    const [version, state] = Array.isArray(found) ? (found as readonly unknown[]) : [];
    return typeof state === 'string' ? { state, version: Number(version) } : null;
  }

  async save(key: string, state: string, expectedVersion: number | null): Promise<SaveOutcome> {
    const keys = [this.#stateKey(key), this.#originalsKey(key)];
    const expected = expectedVersion === null ? '' : String(expectedVersion);
    const version = await this.#command('EVAL', SAVE, '2', ...keys, expected, state, this.#ttlMs);
    return Number(version) === 0 ? 'conflict' : Number(version);
  }

  async delete(key: string): Promise<void> {
    const keys = [this.#stateKey(key), this.#originalsKey(key)];
    await this.#command('EVAL', DELETE, '2', ...keys, this.#ttlMs);
  }

  async put(key: string, name: string, original: string): Promise<void> {
    await this.#command('EVAL', PUT, '1', this.#originalsKey(key), name, original, this.#ttlMs);
  }

  async get(key: string, name: string): Promise<string | null> {
    const found = await this.#command('HGET', this.#originalsKey(key), name);
    return typeof found === 'string' ? found : null;
  }

  /** The braces make a cluster keep both keys of a conversation on one node. */
  #stateKey(key: string): string {
    return `${this.#prefix}{${key}}`;
  }

  #originalsKey(key: string): string {
    return `${this.#prefix}{${key}}:originals`;
  }
}
