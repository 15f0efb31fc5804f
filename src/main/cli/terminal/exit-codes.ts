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
  3    the transcript cannot be read, or its format is unknown
  4    the session could not be made to fit the context window; the report
       covers what was played until then
  5    a compression failed, for example because the model is unreachable or
       its summary unusable; the report covers what was played until then
  130  interrupted`;
