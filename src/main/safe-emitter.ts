// Events for whoever uses the package: a listener that throws is reported, and harms nobody else. Its declarations ask for
// the types of Node themselves, as newer compilers load none that nobody asks for.
/// <reference types="node" preserve="true" />

import { EventEmitter } from 'node:events';
import type { Logger } from './host/logger.js';

/** An `EventEmitter` whose owner cannot be broken by its listeners. */
export class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    super();
    this.#logger = logger;
  }

  /** Calls every listener of an event in turn, also after one has thrown or rejected. */
  protected notify<Name extends keyof Events & string>(name: Name, ...details: Events[Name]): void {
    const report = (error: unknown): void => {
      this.#logger.error(`a listener of '${name}' failed`, { error });
    };
    for (const listener of this.rawListeners(name as never)) {
      try {
        const returned: unknown = Reflect.apply(listener, this, details);
        if (returned instanceof Promise) returned.catch(report);
      } catch (error) {
        report(error);
      }
    }
  }
}
