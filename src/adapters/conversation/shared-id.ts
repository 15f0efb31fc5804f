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

  /** Warns if the messages begin as those that were left, and have none of the known ones. */
  noteStartOver(messages: readonly Message[], known: readonly Message[], logger: Logger): void {
    const format = this.#format;
    const isOwn = (message: Message): boolean => format.isInstruction?.(message) !== true;
    const isBack = beginAlike(format, messages, this.#left);
    const isOther = !known.some((message, at) => {
      const now = messages[at];
      return now !== undefined && isOwn(now) && format.isSame(message, now);
    });
    if (isBack && isOther) warnOnce(logger, WARNING, 'CTXFOLD_SHARED_ID');
    this.#left = known.slice(0, known.findIndex(isOwn) + 1);
  }
}
