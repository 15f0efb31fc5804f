// The function form of the adapter for the Responses API: input items in, input items out.

import type OpenAI from 'openai';
import type { Compactor } from '../../main/compactor.js';
import type { AdapterOptions } from '../adapter-options.js';
import type { MessageCompactor } from '../message-compactor.js';
import { createItemCompactor } from './item-compactor.js';
import { responseItemFormat } from './response-item-format.js';

/**
 * Returns a function that makes the items of a conversation ready to be the `input` of `responses.create`.
 * It takes the whole list each time and changes nothing in it: give it your list, and send what it returns.
 *
 * With `previous_response_id` or `conversation` the provider keeps the history, and the input is what is
 * new: there is nothing for it to do then, and outputs whose calls are not in the list stay as they are.
 * Reasoning stays by default: OpenAI itself leaves out what edits before it have made void.
 *
 * @throws RangeError naming each option that is wrong; reasoning cannot be stripped.
 */
export function inputCompactor(
  compactor: Compactor,
  options: AdapterOptions = {},
): MessageCompactor<OpenAI.Responses.ResponseInputItem> {
  return createItemCompactor(compactor, responseItemFormat, options);
}
