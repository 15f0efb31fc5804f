// Exit codes, the same for every command.

export const EXIT = {
  done: 0,
  failed: 1,
  usage: 2,
  transcript: 3,
  windowExceeded: 4,
  compressionFailed: 5,
  interrupted: 130,
} as const;

/** The exit codes as documented in each help text. */
export const EXIT_CODES_HELP: string = `Exit codes:
  0    done
  1    unexpected failure
  2    wrong usage
  3    the transcript cannot be read, or is of no known format
  4    the session could not be made to fit the context window; what was
       reached until then is reported all the same
  5    a compression failed, as when the model cannot be reached or its
       summary is unfit; what was reached until then is reported all the same
  130  interrupted`;
