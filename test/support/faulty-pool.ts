// Pools with the fault worker, and requests that make it fail.

import { onTestFinished } from 'vitest';
import { WorkerPool } from '../../src/main/offload/worker-pool.js';
import type { WorkerPoolOptions } from '../../src/main/offload/worker-pool-options.js';
import { CtxfoldError } from '../../src/shared/errors.js';
import type { ProbeRequest } from '../../src/shared/protocol.js';

export const PROBE: ProbeRequest = { kind: 'probe' };

/** The URL of a worker of `test/support/workers`. */
export function workerUrl(name: string): URL {
  return new URL(`./workers/${name}`, import.meta.url);
}

/** A probe with a fault of the fault worker's table. */
export function faulty(fault: string, extras: object = {}): ProbeRequest {
  const request = { kind: 'probe', fault, ...extras } as const;
  return request;
}

/** A probe that blocks its thread until `open` is called. */
export function held(): { readonly request: ProbeRequest; readonly open: () => void } {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const open = (): void => {
    Atomics.store(gate, 0, 1);
    Atomics.notify(gate, 0);
  };
  onTestFinished(open);
  return { request: faulty('hold', { gate }), open };
}

/** A small pool that closes when the test ends. */
export function openPool(options: WorkerPoolOptions = {}): WorkerPool {
  const pool = new WorkerPool({
    ...{ threads: 1, closeTimeoutMs: 100, failureThreshold: 1_000 },
    ...{ workerUrl: workerUrl('faulty.mjs'), ...options },
  });
  onTestFinished(() => pool.close());
  return pool;
}

/** The code that a promise rejects with, or its other outcome. */
export function codeOf(promise: Promise<unknown>): Promise<string> {
  return promise.then(
    () => 'resolved',
    (error: unknown) => (error instanceof CtxfoldError ? error.code : String(error)),
  );
}
