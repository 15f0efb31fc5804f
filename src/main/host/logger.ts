// What ctxfold tells its host: log messages and events. A logger or listener that throws breaks nothing. `SafeEmitter`'s
// declarations reference Node's types explicitly, since newer compilers load none by default.
/// <reference types="node" preserve="true" />

import { types } from 'node:util';
import { hasFunctions } from '../../shared/misuse.js';
import { EventEmitter } from 'node:events';

/** Receives messages for people, with details as data. Never gets content of a history. `console` is one. */
export interface Logger {
  debug(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

export function isLogger(value: unknown): value is Logger {
  return hasFunctions(value, ['debug', 'warn', 'error']);
}

/** Discards everything. */
export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * Wraps a logger so that it never throws: a failed log call must not end a turn. The first failure is reported as a process
 * warning, without what was thrown, which may hold anything.
 */
export function safeLogger(logger: Logger): Logger {
  // A JavaScript implementation may be async despite the type.
  const host: Readonly<Record<keyof Logger, (message: string, details?: object) => unknown>> =
    logger;
  let isTold = false;
  const tell = (): void => {
    if (isTold) return;
    isTold = true;
    process.emitWarning('The logger threw or rejected; its failures are ignored from here on.', {
      type: 'CtxfoldWarning',
      code: 'CTXFOLD_LOGGER_FAILED',
    });
  };
  const write =
    (level: keyof Logger) =>
    (message: string, details?: object): void => {
      try {
        const returned = host[level](message, details);
        if (types.isPromise(returned)) returned.catch(tell);
      } catch {
        tell();
      }
    };
  return { debug: write('debug'), warn: write('warn'), error: write('error') };
}

/** An `EventEmitter` that its listeners cannot break. */
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
      try {
        const returned: unknown = Reflect.apply(listener, this, details);
        if (returned instanceof Promise) returned.catch(report);
      } catch (error) {
        report(error);
      }
    }
  }
}
