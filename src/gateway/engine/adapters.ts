// The adapter of each API, as a function of its messages.

import { messageCompactor } from '../../adapters/anthropic/message-compactor.js';
import type { AnthropicMessage } from '../../adapters/anthropic/message-part.js';
import type { CountingCompactor } from '../../adapters/conversation/message-compactor.js';
import { contentsCompactor } from '../../adapters/google/contents-compactor.js';
import { chatCompactor } from '../../adapters/openai/chat-compactor.js';
import { inputCompactor } from '../../adapters/openai/input-compactor.js';
import type { CompactCall } from '../../adapters/request/adapter-options.js';
import type { Compactor } from '../../main/compactor.js';
import { asError, isError, textOf } from '../../shared/errors.js';
import type { ApiName } from './apis.js';

/** An adapter's function; only the adapter knows the format of the messages. */
export type Compact = Pick<CountingCompactor<object>, 'asSent'> &
  ((messages: readonly object[], call: CompactCall) => Promise<readonly object[]>);

/** Creates the adapter of each API for a compactor. */
export function compactsOf(
  compactor: Compactor,
  options: Parameters<typeof chatCompactor>[1],
): Readonly<Record<ApiName, Compact>> {
  const gemini = contentsCompactor(compactor, options) as unknown as Compact;
  return {
    anthropic: messageCompactor<AnthropicMessage>(compactor, options) as unknown as Compact,
    responses: inputCompactor(compactor, options) as unknown as Compact,
    chat: chatCompactor(compactor, options) as unknown as Compact,
    gemini,
    'code-assist': gemini,
  };
}

/** Name and code of an error and the code of its cause, such as `EACCES`, without messages, which may quote content. */
export function reasonOf(thrown: unknown): string {
  const error = asError(thrown);
  const codes = [error, error.cause].map((each) => (isError(each) ? textOf(each, 'code') : ''));
  return [error.name, ...codes].filter(Boolean).join(' ');
}
