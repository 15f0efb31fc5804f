// A host's logger that cannot end a turn: what it throws, or rejects with, has nowhere to be told.

import type { Logger } from '../main/logger.js';

/** Returns a logger that hands everything to another one, and goes on when that fails. */
export function guardedLogger(logger: Logger): Logger {
  // A method of JavaScript may be async all the same.
  const host: Readonly<Record<keyof Logger, (message: string, details?: object) => unknown>> =
    logger;
  const guarded =
    (level: keyof Logger): Logger[keyof Logger] =>
    (message, details) => {
      try {
        Promise.resolve(host[level](message, details)).catch(ignore);
      } catch {
        // There is no other place to tell it: the logger is that place.
      }
    };
  return { debug: guarded('debug'), warn: guarded('warn'), error: guarded('error') };
}

const ignore = (): undefined => undefined;
