// A compactor of items that never takes reasoning out: OpenAI refuses a call or a message that is sent by
// its id without the reasoning it came from, so there is no taking it out alone.

import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import { checkedCall, checkedReasoning } from '../call-arguments.js';
import { createMessageCompactor } from '../message-compactor.js';
import type { MessageCompactor } from '../message-compactor.js';
import type { MessageFormat } from '../message-format.js';

/** Makes the function for a format of items. @throws RangeError naming each option that is wrong. */
export function createItemCompactor<Item>(
  compactor: Compactor,
  format: MessageFormat<Item>,
  options: AdapterOptions = {},
): MessageCompactor<Item> {
  const compact = createMessageCompactor(
    compactor,
    format,
    options,
    (inner) => async (items, given) => {
      const call = checkedCall(given);
      assertKeepsReasoning(call.reasoning);
      return inner(items, call);
    },
  );
  assertKeepsReasoning(options.reasoning);
  return compact;
}

/** The other policies take it out when the history is compressed, if not before. */
function assertKeepsReasoning(given: AdapterOptions['reasoning']): void {
  const reasoning = checkedReasoning(given) ?? 'keep';
  if (reasoning === 'keep') return;
  throw new RangeError(
    `Expected 'keep' as reasoning, got '${reasoning}': OpenAI refuses items without the ` +
      'reasoning that led to them.',
  );
}
