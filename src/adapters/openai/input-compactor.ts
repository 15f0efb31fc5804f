// The function form of the adapter for the Responses API (input items in, input items out), and of adapters for other item formats.

import type OpenAI from 'openai';
import type { Compactor } from '../../main/compactor.js';
import { loggerOf } from '../request/adapter-options.js';
import type { AdapterOptions } from '../request/adapter-options.js';
import { checkedFields } from '../request/call-arguments.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { createMessageCompactor } from '../conversation/message-compactor.js';
import { warnOnce } from '../conversation/warn-of-failure.js';
import { tryPlainData } from '../format/plain-data.js';
import { SERVER_HELD } from '../format/provider-compaction.js';
import type { MessageCompactor } from '../conversation/message-compactor.js';
import type { MessageFormat } from '../format/message-format.js';
import { responseItemFormat } from './response-item-format.js';

/**
 * Returns a function that compacts the items of a conversation for the `input` of `responses.create`.
 * It takes the whole list each time and changes nothing in it: pass it your list, and send what it returns.
 *
 * With `previous_response_id` or `conversation`, the provider keeps the history and the input has new items only, so nothing can be
 * compacted: a list that begins with an output is returned as it is, with a warning, once. So are results of calls that the list only
 * refers to by an id (`item_reference`). Reasoning is kept by default: OpenAI
 * itself ignores reasoning that an edit before it has invalidated.
 *
 * @throws RangeError naming each invalid option; reasoning cannot be stripped.
 */
export function inputCompactor(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<OpenAI.Responses.ResponseInputItem> {
  return createItemCompactor(compactor, responseItemFormat, options);
}

/**
 * Creates the function for an item format. It never strips reasoning: OpenAI rejects an item that is sent with its id but without
 * the reasoning that it came from.
 *
 * @throws RangeError naming each invalid option.
 */
export function createItemCompactor<Item>(
  compactor: Compactor,
  format: MessageFormat<Item>,
  options: AdapterOptions = {},
): MessageCompactor<Item> {
  const fields = checkedFields(options, 'adapter options');
  const compact = createMessageCompactor(
    compactor,
    format,
    fields,
    (inner) => async (items, call) => {
      assertKeepsReasoning(call?.reasoning);
      if (answersReference(items)) warnOnce(loggerOf(compactor, fields), REFERRED);
      if (!beginsWithAnswer(items)) return inner(items, call);
      warnOnce(loggerOf(compactor, fields), SERVER_HELD);
      return [...items];
    },
  );
  assertKeepsReasoning(fields.reasoning);
  return compact;
}

/** Matches the type of an item that answers a call or a request for approval. */
const ANSWER = /_(?:output|result|approval_response)$/;

/** Whether the first item that is no message answers a call: then the server keeps the call, and everything before it. */
function beginsWithAnswer(items: readonly unknown[]): boolean {
  for (const given of items) {
    const { type, role } = fieldsOf(given);
    if (role === undefined) return ANSWER.test(String(type));
  }
  return false;
}

const REFERRED =
  'these requests only refer to calls by their ids (item_reference), so that results of these calls cannot be compacted; send the items themselves (store: false in the AI SDK)';

/** Whether the last items answer a call to which the item before them refers. */
function answersReference(items: readonly unknown[]): boolean {
  let at = items.length - 1;
  while (at > 0 && ANSWER.test(String(fieldsOf(items[at])['type']))) at -= 1;
  const { type, id } = fieldsOf(items[at]);
  return at < items.length - 1 && type === 'item_reference' && /^(?!rs_|msg_)/.test(String(id));
}

function fieldsOf(item: unknown): JsonRecord {
  return asRecord(tryPlainData(item)) ?? {};
}

/** Refuses all policies but `keep`: they remove reasoning, at the latest when the history is compressed. */
function assertKeepsReasoning(reasoning: AdapterOptions['reasoning'] = 'keep'): void {
  if (reasoning === 'keep') return;
  throw new RangeError(
    `Expected 'keep' as reasoning, got '${reasoning}': OpenAI refuses items without the ` +
      'reasoning that led to them.',
  );
}
