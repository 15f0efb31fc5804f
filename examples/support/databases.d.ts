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

/** Starts Redis. What it was told is there again after a restart, and gone after `stop`. */
export function startRedis(): Promise<Database>;

/** Starts PostgreSQL. It refuses to run as root: who is gets another user's rights for it. */
export function startPostgres(): Promise<Database>;
