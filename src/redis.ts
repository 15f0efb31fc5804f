// The store for `createCompactor({ store })` in Redis or Valkey. Names, nothing else.

export { redisStore } from './main/state/redis-store.js';
export type { RedisClient, RedisStoreOptions } from './main/state/redis-store.js';
