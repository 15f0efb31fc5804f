// The pool of a chaos run, which records the errors of its tasks, because an offload retries silently.

import { WorkerPool } from '../../src/main/offload/worker-pool.js';
import type { RunTaskOptions, TaskOutcome } from '../../src/main/offload/worker-pool.js';
import type { WorkerPoolOptions } from '../../src/main/offload/worker-pool-options.js';
import type { TaskRequest } from '../../src/shared/protocol.js';

export class WatchedPool extends WorkerPool {
  readonly #onFailure: (kind: TaskRequest['kind'], thrown: unknown) => void;

  constructor(
    options: WorkerPoolOptions,
    onFailure: (kind: TaskRequest['kind'], thrown: unknown) => void,
  ) {
    super(options);
    this.#onFailure = onFailure;
  }

  override run<Request extends TaskRequest>(
    request: Request,
    options?: RunTaskOptions,
  ): Promise<TaskOutcome<Request>> {
    const outcome = super.run(request, options);
    outcome.catch((thrown: unknown) => {
      this.#onFailure(request.kind, thrown);
    });
    return outcome;
  }
}
