// The connections of a compactor's sessions: opens them on the pool's threads, and evicts the least recently used ones.

// Not the global `MessageChannel`: test environments that emulate browsers remove or replace it.
import { MessageChannel } from 'node:worker_threads';
import type { ResidentOptions } from '../../shared/resident-protocol.js';
import { ResidentConnection } from './resident-connection.js';
import type { ConnectionHost, EvictableSession } from './resident.js';
import type { WorkerPool } from './worker-pool.js';

/** Totals about a compactor's connections. */
export interface ResidentHostStats {
  /** Sessions whose histories live on worker threads now. */
  readonly residentSessions: number;
  /** Connections opened so far. */
  readonly openings: number;
  /** Connections evicted because there were too many. */
  readonly evictions: number;
}

/** Opens connections and bounds their number. */
export class ResidentHost implements ConnectionHost {
  readonly countsFrom: number = 128;
  readonly #pool: WorkerPool;
  readonly #maxResidentSessions: number;
  /** In the order of the last answers: a map keeps insertion order. */
  readonly #sessions: Map<EvictableSession, ResidentConnection> = new Map();
  readonly #lastHeardAt: Map<number, number> = new Map();
  #openings = 0;
  #evictions = 0;

  constructor(pool: WorkerPool, maxResidentSessions: number) {
    this.#pool = pool;
    this.#maxResidentSessions = maxResidentSessions;
  }

  get stats(): ResidentHostStats {
    return {
      residentSessions: this.#sessions.size,
      openings: this.#openings,
      evictions: this.#evictions,
    };
  }

  /**
   * Opens a connection on the free thread with the fewest sessions.
   *
   * @throws WorkerPoolError as `WorkerPool.run` does.
   */
  async open(session: EvictableSession, options: ResidentOptions): Promise<ResidentConnection> {
    const { port1, port2 } = new MessageChannel();
    try {
      const request = { kind: 'open', port: port2, options } as const;
      const { value } = await this.#pool.run(request, { transferList: [port2] });
      const { threadId } = value;
      const connection: ResidentConnection = new ResidentConnection(port1, {
        countsTokens: options.countsTokens,
        timeoutMs: this.#pool.taskTimeoutMs,
        lastHeardAt: () => this.#lastHeardAt.get(threadId) ?? -Infinity,
        onHeard: () => {
          this.#lastHeardAt.set(threadId, performance.now());
          if (this.#sessions.delete(session)) this.#sessions.set(session, connection);
        },
        onStuck: () => {
          this.#pool.stopThread(threadId);
        },
        onEnd: () => {
          this.#pool.noteResident(threadId, -1);
          if (this.#sessions.get(session) === connection) this.#sessions.delete(session);
        },
      });
      this.#pool.noteResident(threadId, 1);
      this.#openings += 1;
      this.#sessions.set(session, connection);
      this.#evict();
      return connection;
    } catch (error) {
      port1.close();
      throw error;
    }
  }

  get countingThreads(): number {
    return this.#pool.threads;
  }

  /**
   * Counts entries on any free thread.
   *
   * @throws WorkerPoolError as `WorkerPool.run` does.
   */
  readonly count: ConnectionHost['count'] = (contents, knownTokens, signal, rank) =>
    this.#pool.run({ kind: 'count', contents, knownTokens }, { signal, rank });

  /** Evicts idle sessions down to the limit, least recently used first. Busy ones are skipped, even if the limit stays exceeded. */
  #evict(): void {
    if (this.#sessions.size <= this.#maxResidentSessions) return;
    for (const [guest] of this.#sessions) {
      if (!guest.isIdle) continue;
      this.#evictions += 1;
      guest.release();
      if (this.#sessions.size <= this.#maxResidentSessions) return;
    }
  }
}
