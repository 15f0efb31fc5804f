// Where ctxfold tells what it does. `console` is one; the default says nothing.

/** Receives messages for people, with details as data. Never content of a history. */
export interface Logger {
  debug(message: string, details?: object): void;
  warn(message: string, details?: object): void;
  error(message: string, details?: object): void;
}

/** A logger that says nothing. */
export const SILENT_LOGGER: Logger = {
  debug: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
