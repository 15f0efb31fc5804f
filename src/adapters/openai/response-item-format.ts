// The format of OpenAI's Responses API: a list of items, as in the `input` of `responses.create`.

import type OpenAI from 'openai';
import { thinkingBlock } from '../../shared/content.js';
import { asText } from '../../shared/json.js';
import type { MessageFormat } from '../format/message-format.js';
import { createItemFormat, thoughtOf } from './item-format.js';

/**
 * Items of the Responses API. The parts of a message are its content parts, or its text; every other item is one part. What may be
 * removed and shrunk: messages of the user and the model, and calls and outputs of functions, of custom tools, and of the shells,
 * patches and computers that the application runs. Reasoning is removed with what it led to. A run of items that the model produced
 * in sequence is one entry. Provider tools that need no answer (searches, interpreters, images, MCP calls) are opaque. An approval
 * with its call is kept or removed as a whole. Pinned are system and developer messages, tool searches, programs, compactions,
 * references but for those to reasoning and messages, all runs that contain them, and updates of the configuration.
 */
export const responseItemFormat: MessageFormat<OpenAI.Responses.ResponseInputItem> =
  createItemFormat({
    sdk: 'responses',
    callIdKey: 'call_id',
    readReasoning: (item) =>
      thinkingBlock(thoughtOf(item['summary'], item['content']), {
        sourceField: 'reasoning',
        signature: asText(item['id']),
        encryptedContent: asText(item['encrypted_content']),
      }),
    // Written without an id, because items with ids require their reasoning.
    write: (role, content) => ({ type: 'message', role, content }),
  });
