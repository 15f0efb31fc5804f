// Events for users of the package. A listener that throws is logged and breaks nothing. The declarations reference Node's types
// explicitly, because newer compilers load none by default.
/// <reference types="node" preserve="true" />

import { EventEmitter } from 'node:events';
import { nearestName, shownText } from '../../shared/shown-text.js';
import { tellHost } from './ask-host.js';
import type { Logger } from './logger.js';

/** Events of every emitter; `events.once` of Node listens for errors. */
const NODE_EVENTS: ReadonlySet<string> = new Set(['newListener', 'removeListener', 'error']);

function unknownEvent(name: string, known: readonly string[]): string {
  const meant = nearestName(name, known);
  const question = meant === undefined ? '' : ` Did you mean '${meant}'?`;
  return `There is no event ${shownText(name)}.${question} Known are ${known.join(', ')}.`;
}

/** An `EventEmitter` whose listeners cannot break the caller of `notify`. */
export class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  readonly #logger: Logger;

  /** @param events the names; a listener for any other is refused with a `RangeError` */
  constructor(logger: Logger, events: Readonly<Record<keyof Events, true>>) {
    super();
    this.#logger = logger;
    const isOwn = (name: unknown): boolean =>
      typeof name !== 'string' || NODE_EVENTS.has(name) || Object.hasOwn(events, name);
    // Node emits this before it adds a listener.
    this.on(
      'newListener' as never,
      ((name: unknown) => {
        if (!isOwn(name)) throw new RangeError(unknownEvent(String(name), Object.keys(events)));
      }) as never,
    );
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
