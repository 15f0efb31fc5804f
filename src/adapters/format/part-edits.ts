// Applies edits to the content of a message, in any format.

import type { ContentBlock } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { PartEdits } from './message-format.js';

/**
 * Applies edits to content, a text or a list of parts. Returns `undefined` if no part remains. Unedited parts and unedited content are
 * the same objects.
 *
 * @param rewritePart returns the part with an edit @default only texts can be edited
 * @param first number of the first content part in `edits`
 */
export function editedContent(
  content: unknown,
  edits: PartEdits,
  rewritePart: (part: never, edit: ContentBlock) => unknown = withText,
  first: number = 0,
): unknown {
  if (!Array.isArray(content)) {
    const edit = edits.get(first);
    return edit === null ? undefined : edit?.type === 'text' ? edit.text : content;
  }
  const edited: unknown[] = [];
  let isEdited = false;
  let at = first;
  // A loop without closures, for speed: if an SDK rebuilds its messages, all edited ones are rewritten on each call.
  for (const part of content as readonly unknown[]) {
    const edit = edits.get(at);
    if (edit !== null) edited.push(edit === undefined ? part : rewritePart(part as never, edit));
    if (edit !== undefined) isEdited = true;
    at += 1;
  }
  if (!isEdited) return content;
  return edited.length === 0 ? undefined : edited;
}

/** Returns a text part with another text. Other parts are unchanged: a call among them is also listed elsewhere in the message. */
export function withText(part: unknown, edit: ContentBlock): unknown {
  if (edit.type !== 'text') return part;
  return typeof part === 'string' ? edit.text : { ...asRecord(part), text: edit.text };
}
