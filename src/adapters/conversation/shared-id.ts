// Notices that several conversations take turns under one id. Each turn is then a start over, without the cache and what was learned.

import type { Logger } from '../../main/host/logger.js';
import type { MessageFormat } from '../format/message-format.js';
import { beginAlike } from './prefix-match.js';
import { warnOnce } from './warn-of-failure.js';

const WARNING =
  'several conversations take turns under one conversationId, so each call loses the prompt cache: give each an id of its own';

export class SharedId<Message> {
  readonly #format: MessageFormat<Message>;
  /** The messages at the start of the conversation that the last start over has left. */
  #left: readonly Message[] = [];

  constructor(format: MessageFormat<Message>) {
    this.#format = format;
  }

  /** Warns if the messages begin as those that were left, and not as the known ones. */
  noteStartOver(messages: readonly Message[], known: readonly Message[], logger: Logger): void {
    const format = this.#format;
    const isBack = beginAlike(format, messages, this.#left) && !beginAlike(format, messages, known);
    if (isBack) warnOnce(logger, WARNING, 'CTXFOLD_SHARED_ID');
    const first = known.findIndex((message) => format.isInstruction?.(message) !== true);
    this.#left = known.slice(0, first + 1);
  }
}
