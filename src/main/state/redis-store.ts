// A store in Redis or Valkey, using a client of the host's: compare-and-save is one script on the server. Loads no client.

import { completeStoreOptions } from './state-store.js';
import type { StateStore, StoreOptions } from './state-store.js';

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
  const { prefix = 'ctxfold:' } = options;
  const command = commandsOf(client);
  const { ttlMs, limits } = completeStoreOptions(options);
  const ttl = String(Math.ceil(ttlMs));
  // The braces make a cluster keep both keys of a conversation on one node.
  const stateKey = (key: string): string => `${prefix}{${key}}`;
  const originalsKey = (key: string): string => `${stateKey(key)}:originals`;
  return {
    limits,
    load: async (key) => {
      const found = await command('HMGET', stateKey(key), 'version', 'state');
      const [version, state] = Array.isArray(found) ? (found as readonly unknown[]) : [];
      return typeof state === 'string' ? { state, version: Number(version) } : null;
    },
    save: async (key, state, expectedVersion) => {
      const keys = [stateKey(key), originalsKey(key)];
      const expected = expectedVersion === null ? '' : String(expectedVersion);
      const version = Number(await command('EVAL', SAVE, '2', ...keys, expected, state, ttl));
      return version === 0 ? 'conflict' : version;
    },
    delete: async (key) => {
      await command('EVAL', DELETE, '2', stateKey(key), originalsKey(key), ttl);
    },
    put: async (key, name, original) => {
      await command('EVAL', PUT, '1', originalsKey(key), name, original, ttl);
    },
    get: async (key, name) => {
      const found = await command('HGET', originalsKey(key), name);
      return typeof found === 'string' ? found : null;
    },
  };
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
