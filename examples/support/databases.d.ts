// Types of databases.js.

/** A running server. */
export interface Database {
  readonly port: number;
  /** Restarts it with its data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a command is installed. */
export function isInstalled(command: string): boolean;

/** Starts Redis with further arguments. Its data survives a restart, but not `stop`. */
export function startRedis(...more: readonly string[]): Promise<Database>;

/** Starts PostgreSQL; as another user when run as root, which PostgreSQL refuses. */
export function startPostgres(): Promise<Database>;

/** Returns a free loopback port. */
export function freePort(): Promise<number>;
