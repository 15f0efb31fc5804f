// The store for `createCompactor({ store })` in Redis or Valkey: exports only.

export { redisStore } from './main/state/redis-store.js';
export type { RedisClient, RedisStoreOptions } from './main/state/redis-store.js';
