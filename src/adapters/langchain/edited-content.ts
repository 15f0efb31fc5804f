// The content of a message without what edits took from it: a string or a list of blocks, as it was. A block
// without an edit is the same object.

import { isRecord } from '../../shared/json.js';
import type { MessageContent } from '@langchain/core/messages';
import type { ContentBlock } from '../../shared/content.js';

/** What became of a block: nothing, gone, or another one in its place. */
export type PartEdit = ContentBlock | null | undefined;

/** Returns what is left of content; `editOf` tells what became of a block of it, or of a string as block 0. */
export function editedContent(
  content: MessageContent,
  editOf: (at: number) => PartEdit,
): MessageContent {
  if (!Array.isArray(content)) {
    const edit = editOf(0);
    if (edit === null) return '';
    return edit?.type === 'text' ? edit.text : content;
  }
  return content.flatMap((block, at) => {
    const edit = editOf(at);
    if (edit === null) return [];
    return edit?.type === 'text' && isRecord(block) ? { ...block, text: edit.text } : block;
  });
}
