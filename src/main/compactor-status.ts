// What a compactor tells of itself. Types only.

import type { CompactorOptions } from './compactor-options.js';
import type { OffloadStats } from './offload/offload.js';
import type { ResidentHostStats } from './offload/resident-host.js';
import type { WorkerPoolStats } from './offload/worker-pool.js';

/** What a compactor has done, and the state of its threads. */
export interface CompactorStats extends OffloadStats {
  /** Open sessions. */
  readonly sessions: number;
  /** Histories resident on worker threads now, and evictions so far; `null` when everything runs inline. */
  readonly residents: ResidentHostStats | null;
  /** The worker threads; `null` when everything runs inline. */
  readonly pool: WorkerPoolStats | null;
}

/** The effective configuration of a compactor. Logged at `debug` level when it starts. */
export interface CompactorStatus {
  /** Which set of defaults applies. */
  readonly preset: 'agents' | 'specification';
  readonly offload: CompactorOptions['offload'];
  /** Maximum number of worker threads; 0 when everything runs inline. */
  readonly threads: number;
  /** How tokens are counted; `own` means a tokenizer of the host's. */
  readonly tokens: 'o200k' | 'estimate' | 'own';
  /** Tools known by name, for sessions without a catalog of their own. */
  readonly tools: number;
  /** The context limit for all models, or `by-model`. */
  readonly contextLimit: number | 'by-model';
  /** Context limits learned from providers, by model name. */
  readonly learnedLimits: Readonly<Record<string, number>>;
  /** Where sessions outlive the process; `own` means a store that the host has opened. */
  readonly store: 'none' | 'directory' | 'own';
  /** Open sessions, and how many of them have a removal log. */
  readonly sessions: number;
  readonly removalLogs: number;
}
