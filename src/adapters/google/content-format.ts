// The message format of Google GenAI: `Content` with parts. Never changes unedited parts and thought signatures.

import type { Content, Part } from '@google/genai';
import type { ContentBlock } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import { madeFrom } from '../format/originals.js';
import { editedContent } from '../format/part-edits.js';
import { textsOf } from '../format/placed.js';
import { isSameValue } from '../format/same-value.js';
import { ContentReader } from './content-reader.js';
import { spreadable } from '../format/plain-data.js';
import { mediaOfResponses, withOutput } from './read-part.js';

/** The format of the contents that `generateContent` accepts. */
export const contentFormat: MessageFormat<Content> = {
  sdk: 'google',
  createReader: () => new ContentReader(),
  isSame: isSameValue,
  rewrite: rewriteContent,
  write: ({ speaker, blocks }) => ({
    role: speaker === 'ai' ? 'model' : 'user',
    parts: textsOf(blocks).map((text) => ({ text })),
  }),
};

function rewriteContent(given: Content, edits: PartEdits): Content {
  const content = spreadable(given);
  const all = new Map(edits);
  // What a response has shown goes with it.
  if (content.role !== 'model') {
    for (const [at, owner] of mediaOfResponses(content.parts ?? []))
      if (edits.has(owner)) all.set(at, null);
  }
  const parts = editedContent(content.parts, all, rewritePart) as Part[];
  return madeFrom({ ...content, parts }, given);
}

function rewritePart(part: Part, block: ContentBlock): Part {
  const { functionCall, functionResponse } = part;
  if (block.type === 'text') return { ...part, text: block.text };
  if (block.type === 'tool_call')
    return { ...part, functionCall: { ...functionCall, args: asRecord(block.parameters) ?? {} } };
  if (block.type !== 'tool_response' || !functionResponse) return part;
  return { ...part, functionResponse: withOutput(functionResponse, String(block.result)) };
}
