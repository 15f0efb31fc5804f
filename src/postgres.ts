// The store for `createCompactor({ store })` in PostgreSQL: exports only.

export { POSTGRES_MIGRATION, postgresStore, sweepPostgres } from './main/state/postgres-store.js';
export type { PostgresClient } from './main/state/postgres-store.js';
