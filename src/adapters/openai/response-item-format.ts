// The format of OpenAI's Responses API: a list of items, as `responses.create` takes it for `input`.

import type OpenAI from 'openai';
import { asText, withoutUndefined } from '../../shared/json.js';
import type { MessageFormat } from '../message-format.js';
import { ITEM_PROVIDER_MESSAGES } from '../provider-compaction.js';
import { createItemFormat, thoughtOf } from './item-format.js';

/**
 * Items of the Responses API. A message has its content parts as parts, text being one; every other
 * item is one part. Calls and outputs of functions and of custom tools may go and shrink, messages of
 * the user and the model as well, and reasoning goes with what it led to. All that the model produced
 * in a row is one entry. Tools of the provider that need no answer (searches, interpreters, pictures, MCP calls)
 * are carried unseen. Pinned are messages of the system and the developer, calls of computers, shells
 * and patches, approvals, tool searches, programs, references, compactions, and the rows they stand in.
 */
export const responseItemFormat: MessageFormat<OpenAI.Responses.ResponseInputItem> =
  createItemFormat({
    callIdKey: 'call_id',
    readReasoning: (item) => ({
      type: 'thinking',
      thought: thoughtOf(item['summary'], item['content']),
      sourceField: 'reasoning',
      ...withoutUndefined({
        signature: asText(item['id']),
        encryptedContent: asText(item['encrypted_content']),
      }),
    }),
    provider: ITEM_PROVIDER_MESSAGES,
    // Without an id, so that it needs no reasoning before it.
    write: (role, content) => ({ type: 'message', role, content }),
  });
