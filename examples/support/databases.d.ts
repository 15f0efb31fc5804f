// What databases.js has.

/** A server that runs. */
export interface Database {
  readonly port: number;
  /** Ends it and starts it again: what it was told is there. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Whether a command is installed. */
export function isInstalled(command: string): boolean;

/** Starts Redis, with further arguments. What it was told is there again after a restart, and gone after `stop`. */
export function startRedis(...more: readonly string[]): Promise<Database>;

/** Starts PostgreSQL. It refuses to run as root: who is gets another user's rights for it. */
export function startPostgres(): Promise<Database>;

/** Returns a port of loopback that nothing listens to. */
export function freePort(): Promise<number>;
