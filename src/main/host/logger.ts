// The host's logger, guarded so that it cannot break anything.

import { types } from 'node:util';
import { hasFunctions } from '../../shared/misuse.js';

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

/** Wrapped loggers, by logger: a logger has one wrapper, and a wrapper is its own. */
const WRAPPERS = new WeakMap<Logger, Logger>([[SILENT_LOGGER, SILENT_LOGGER]]);

/**
 * Wraps a logger so that it never throws: a failed log call must not end a turn. The first failure is reported as a process
 * warning, without what was thrown, which may hold anything.
 *
 * @returns for the same logger the same wrapper
 */
export function safeLogger(logger: Logger): Logger {
  const known = WRAPPERS.get(logger);
  if (known !== undefined) return known;
  // A JavaScript implementation may be async despite the type.
  const host: Readonly<Record<keyof Logger, (message: string, details?: object) => unknown>> =
    logger;
  let hasWarned = false;
  const warnOnce = (): void => {
    if (hasWarned) return;
    hasWarned = true;
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
        if (types.isPromise(returned)) returned.catch(warnOnce);
      } catch {
        warnOnce();
      }
    };
  const wrapper = { debug: write('debug'), warn: write('warn'), error: write('error') };
  WRAPPERS.set(logger, wrapper).set(wrapper, wrapper);
  return wrapper;
}
