// Events for users of the package. A listener that throws is logged and breaks nothing. The declarations reference Node's types
// explicitly, because newer compilers load none by default.
/// <reference types="node" preserve="true" />

import { EventEmitter } from 'node:events';
import { tellHost } from './ask-host.js';
import type { Logger } from './logger.js';

/** An `EventEmitter` whose listeners cannot break the caller of `notify`. */
export class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
  }

  /** Calls every listener of an event in turn, even after one has thrown or rejected; failures are logged. */
  protected notify<Name extends keyof Events & string>(name: Name, ...details: Events[Name]): void {
    const report = (error: unknown): void => {
      this.#logger.error(`a listener of '${name}' failed`, { error });
    };
    for (const listener of this.rawListeners(name as never)) {
      tellHost(() => Reflect.apply(listener, this, details), report);
    }
  }
}
