// Applies edits to the parts of a message, in any format. Reasoning is removed along with everything that it led to, because providers
// reject reasoning that nothing follows.

import { isBlank } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { PartEdits } from './message-format.js';

/**
 * Returns the remaining parts. Unedited ones are the same objects.
 *
 * @param rewritePart returns the part with an edit; `null` removes it
 * @param first number of the first part in `edits`
 */
export function editedParts<Part>(
  parts: readonly Part[],
  edits: PartEdits,
  rewritePart: (part: Part, edit: ContentBlock) => Part | null,
  first: number = 0,
): Part[] {
  const edited: Part[] = [];
  let at = first;
  // A loop without closures, for speed: if an SDK rebuilds its messages, all edited ones are rewritten on each call.
  for (const part of parts) {
    const edit = edits.get(at);
    const now = edit === undefined || edit === null ? edit : rewritePart(part, edit);
    if (now !== null) edited.push(now ?? part);
    at += 1;
  }
  return edited;
}

/** Returns content that is a single string, with its edit applied. */
export function editedText(text: string, edits: PartEdits): string {
  const edit = edits.get(0);
  return edit?.type === 'text' ? edit.text : text;
}

/**
 * Applies edits to content in which only texts can be edited. Returns `undefined` if no part remains. Unedited parts and unedited
 * content are the same objects.
 *
 * @param first number of the first content part in `edits`
 */
export function editedContent(content: unknown, edits: PartEdits, first: number = 0): unknown {
  if (!Array.isArray(content)) {
    const edit = edits.get(first);
    return edit === null ? undefined : edit?.type === 'text' ? edit.text : content;
  }
  const given = content as readonly unknown[];
  if (!given.some((_, at) => edits.has(first + at))) return given;
  const parts = editedParts(given, edits, withText, first);
  return parts.length === 0 ? undefined : parts;
}

/** Returns a text part with another text. Other parts are unchanged: a call among them is also listed elsewhere in the message. */
function withText(part: unknown, edit: ContentBlock): unknown {
  if (edit.type !== 'text') return part;
  return typeof part === 'string' ? edit.text : { ...asRecord(part), text: edit.text };
}

/** Whether an edit leaves a blank text, which providers reject. */
export function isBlankText(edit: ContentBlock): boolean {
  return edit.type === 'text' && isBlank(edit.text);
}

/** A part of a message that is sent. */
export interface SentPart {
  /** Index of the part in `PartEdits`. */
  readonly number: number;
  readonly isReasoning: boolean;
}

/**
 * Adds to the edits the removal of each reasoning whose following parts, up to the next reasoning, are all removed. Reasoning that no
 * part follows is kept. Returns a new map.
 */
export function withSpentReasoning(parts: readonly SentPart[], edits: PartEdits): PartEdits {
  const all = new Map(edits);
  let hasFollowing = false;
  let isKept = false;
  let isAfterReasoning = false;
  for (const { number, isReasoning } of parts.toReversed()) {
    // Adjacent reasoning parts share the parts that follow them.
    if (!isReasoning && isAfterReasoning) hasFollowing = isKept = false;
    isAfterReasoning = isReasoning;
    if (!isReasoning) {
      hasFollowing = true;
      isKept ||= edits.get(number) !== null;
    } else if (hasFollowing && !isKept) all.set(number, null);
  }
  return all;
}
