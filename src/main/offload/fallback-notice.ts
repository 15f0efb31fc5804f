// Tells people, by the logger, that workers cannot be used: what failed, and what to do about it. Once for each kind
// of failure, for a session falls back in every turn then.

import { failureCode, innermostFailure } from '../telemetry/channels.js';
import type { FailureCode } from '../telemetry/channels.js';
import type { Logger } from '../host/logger.js';
import type { FallbackEvent } from './offload.js';

const INLINE = "or choose offload: 'inline'.";

/** What helps, by a word in any message or code of the chain of causes. */
const REMEDIES: readonly (readonly [pattern: RegExp, remedy: string])[] = [
  [/ERR_ACCESS_DENIED|NotCapable/, `Start Node with --allow-worker, ${INLINE}`],
  [
    /Cannot find (?:module|package)|MODULE_NOT_FOUND/,
    `A file of the build is missing where it runs: deploy all of them, ${INLINE}`,
  ],
];

/** What one compactor has told of. */
export class FallbackNotice {
  readonly #logger: Logger;
  readonly #told: Set<FailureCode> = new Set();

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  /** Whether tokens were estimated, because the encoding could not be loaded. */
  get hasToldOfEstimates(): boolean {
    return this.#told.has('TOKEN_COUNT_FAILED');
  }

  /** Warns of a failure unless it has warned of one of its kind before: that of the innermost cause. */
  tell({ task, error }: FallbackEvent): void {
    const innermost = innermostFailure(error);
    const code = failureCode(innermost);
    if (this.#told.has(code)) return;
    this.#told.add(code);
    const message =
      code === 'TOKEN_COUNT_FAILED'
        ? `Tokens are estimated. ${firstLine(innermost.message)}`
        : [
            'Work for worker threads runs on the calling thread.',
            code === 'UNKNOWN' ? innermost.name : firstLine(innermost.message),
            REMEDIES.find(([pattern]) => pattern.test(chainOf(error)))?.[1],
          ]
            .filter((part) => part !== undefined)
            .join(' ');
    this.#logger.warn(message, { code, task });
  }
}

/** As a sentence. Node lists, behind the message, from where a missing module was asked for. */
function firstLine(text: string): string {
  return text.split('\n', 1).join('').replace(/\.?$/, '.');
}

const MAX_CAUSES = 8;

function chainOf(error: Error): string {
  const texts: string[] = [];
  for (let link: unknown = error; link instanceof Error && texts.length < MAX_CAUSES;) {
    texts.push('code' in link ? `${link.message} ${String(link.code)}` : link.message);
    link = link.cause;
  }
  return texts.join(' ');
}
