// Where ctxfold tells what it does. `console` is one; the default says nothing.

import { types } from 'node:util';
import { hasFunctions } from '../../shared/misuse.js';

/** Receives messages for people, with details as data. Never content of a history. */
export interface Logger {
  debug(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** Whether something of a host's is a logger. */
export function isLogger(value: unknown): value is Logger {
  return hasFunctions(value, ['debug', 'warn', 'error']);
}

/** A logger that says nothing. */
export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/**
 * A logger that does as this one and never throws: nobody's turn ends because a message was not written. That it
 * failed is told once, as a warning of the process, without what it threw, which may hold anything.
 */
export function steadyLogger(logger: Logger): Logger {
  // A method of JavaScript may be async all the same.
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
