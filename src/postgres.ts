// The store for `createCompactor({ store })` in PostgreSQL. Names, nothing else.

export { POSTGRES_MIGRATION, postgresStore, sweepPostgres } from './main/state/postgres-store.js';
export type { PostgresClient } from './main/state/postgres-store.js';
