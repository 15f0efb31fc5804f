// A store in Redis or Valkey that uses the host's client. Compare-and-swap is one script on the server. Loads no client.

import { assertString, hasFunctions, kindOf } from '../../shared/misuse.js';
import { completeStoreOptions } from './state-store.js';
import type { StateStore, StoreOptions } from './state-store.js';

/** A client, pool, cluster or sentinel of `redis`, or a client or cluster of `ioredis`; opened and closed by its owner. */
export type RedisClient =
  | { call(command: string, ...args: string[]): Promise<unknown> }
  | { sendCommand(args: string[]): Promise<unknown> }
  | { sendCommand(isReadonly: boolean, args: string[]): Promise<unknown> }
  | { sendCommand(firstKey: string, isReadonly: boolean, args: string[]): Promise<unknown> };

export interface RedisStoreOptions extends StoreOptions {
  /** Prefix of all keys. @default 'ctxfold:' */
  readonly prefix?: string | undefined;
}

/**
 * Compare-and-swap. The first version of a key is the time in ms. If it were 1, then after a loss of data or an eviction, a version
 * known from before could match a new state of another process.
 */
const SAVE = `
local kept = redis.call('HMGET', KEYS[1], 'version', 'state')
local version = kept[2] and kept[1] or ''
if version ~= ARGV[1] then return 0 end
if not kept[1] then redis.call('HSET', KEYS[1], 'version', ARGV[4]) end
local now = redis.call('HINCRBY', KEYS[1], 'version', 1)
redis.call('HSET', KEYS[1], 'state', ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return now`;

/** Deletes the state and the originals, but keeps the version, so that version numbers are not reused. */
const DELETE = `
redis.call('DEL', KEYS[2])
redis.call('HDEL', KEYS[1], 'state')
redis.call('PEXPIRE', KEYS[1], ARGV[1])
return 1`;

const PUT = `
redis.call('HSETNX', KEYS[1], ARGV[1], ARGV[2])
redis.call('PEXPIRE', KEYS[1], ARGV[3])
return 1`;

/** Makes a store from a client. @throws TypeError for anything but a client. */
export function redisStore(client: RedisClient, options: RedisStoreOptions = {}): StateStore {
  const { prefix = 'ctxfold:' } = options;
  const send = senderOf(client);
  const { ttlMs, limits } = completeStoreOptions(options, { prefix: assertString });
  const ttl = String(Math.ceil(ttlMs));
  // The braces make a cluster keep both keys of a conversation on one node.
  const stateKey = (key: string): string => `${prefix}{${key}}`;
  const originalsKey = (key: string): string => `${stateKey(key)}:originals`;
  const evaluate = (script: string, keys: Keys, ...args: string[]): Promise<unknown> =>
    send(keys[0], ['EVAL', script, String(keys.length), ...keys, ...args]);

  return {
    limits,
    load: async (key) => {
      const found = await send(stateKey(key), ['HMGET', stateKey(key), 'version', 'state']);
      const [version, state] = Array.isArray(found) ? (found as readonly unknown[]) : [];
      const text = textOf(state);
      return text === null ? null : { state: text, version: Number(version) };
    },
    save: async (key, state, expectedVersion) => {
      const keys: Keys = [stateKey(key), originalsKey(key)];
      const expected = expectedVersion === null ? '' : String(expectedVersion);
      const now = String(Date.now());
      const version = Number(await evaluate(SAVE, keys, expected, state, ttl, now));
      return version === 0 ? 'conflict' : version;
    },
    delete: async (key) => {
      await evaluate(DELETE, [stateKey(key), originalsKey(key)], ttl);
    },
    put: async (key, name, original) => {
      await evaluate(PUT, [originalsKey(key)], name, original, ttl);
    },
    get: async (key, name) =>
      textOf(await send(originalsKey(key), ['HGET', originalsKey(key), name])),
  };
}

/** Returns an answer as text, or `null` if there is none. A client may be configured to answer with bytes. */
function textOf(answer: unknown): string | null {
  if (answer instanceof Uint8Array) return Buffer.from(answer).toString();
  return typeof answer === 'string' ? answer : null;
}

type Keys = readonly [string, ...string[]];

/** Sends a command; a cluster routes it to the node of the key. */
type Send = (key: string, command: readonly [name: string, ...args: string[]]) => Promise<unknown>;

interface SomeClient {
  readonly call: (...command: readonly string[]) => Promise<unknown>;
  readonly sendCommand: (...args: unknown[]) => Promise<unknown>;
}

/** The variants of `sendCommand` differ in their leading arguments; the function's `length` tells which variant it is. */
function senderOf(given: RedisClient): Send {
  const client = given as unknown as SomeClient;
  if (hasFunctions(client, ['call'])) return (_, command) => client.call(...command);
  if (hasFunctions(client, ['sendCommand'])) {
    const leading = 4 - client.sendCommand.length;
    return (key, command) => client.sendCommand(...[key, false].slice(leading), command);
  }
  throw new TypeError(`Expected a client of \`redis\` or \`ioredis\`, got ${kindOf(given)}.`);
}
