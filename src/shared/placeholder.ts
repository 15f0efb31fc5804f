// Placeholders: the lines that replace tool results. Writes their endings and recognizes them, without reading results that
// are longer than a placeholder. `summarize/tool-summary.ts` writes the lines.

import type { ToolResponseBlock } from './content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from './density.js';
import type { PlaceholderForm } from './density.js';
import { onOneLine, shortened } from './shown-text.js';

/** UTF-16 units of a summary line, not counting the id at its end. */
export const MAX_SUMMARY_LENGTH = 200;
const MAX_TOOL_NAME_LENGTH = 64;
/** A longer id, with its quotes, is omitted: a shortened id would be useless. */
const MAX_QUOTED_ID_LENGTH = 128;
const MAX_PLACEHOLDER_LENGTH: number = MAX_SUMMARY_LENGTH + MAX_QUOTED_ID_LENGTH + 32;

const BARE_ENDING = ']';

/** What a result holds. */
export type PlaceholderKind =
  /** A tool's own result. */
  | 'none'
  /** A summary line without an id. */
  | 'summary'
  /** One of the two pointers, or a line with the call's id. */
  | 'pointer';

/**
 * Returns the end of a placeholder: `]`, preceded by the call's id as JSON, and for `recallable` by how to get the original
 * back. An id that is too long is omitted.
 */
export function placeholderEnding(callId: string, form: PlaceholderForm): string {
  const quoted = form === 'pointer' ? undefined : quotedId(callId);
  if (quoted === undefined) return BARE_ENDING;
  return form === 'recallable' ? `; recall(${quoted}) for the original]` : `; id ${quoted}]`;
}

/** The beginnings of an excerpt's lines, which follow the placeholder and say what the result was about. */
export const EXCERPT = {
  named: '\nIt named: ',
  failed: '\nIt failed with: ',
  reported: '\nIt reported: ',
  began: '\nIt began with: ',
  held: '\nIt held: ',
  ended: '\nIt ended with: ',
  goesOn: '\nIt goes on with: ',
} as const;
const EXCERPT_LINE =
  /\]\nIt (?:named|failed with|reported|began with|held|ended with|goes on with): /;
/** The longest excerpt, including the longest placeholder. In UTF-16 units. */
const MAX_EXCERPT_LENGTH = 1_500;

/** Whether a text is an excerpt: a placeholder followed by lines that say what the result was about. */
export function isExcerptText(text: string): boolean {
  return text.length <= MAX_EXCERPT_LENGTH && text.startsWith('[') && EXCERPT_LINE.test(text);
}

/** A tool's name as placeholders show it: on one line, at most 64 UTF-16 units. */
export function shownToolName(toolName: string): string {
  return shortened(onOneLine(toolName), MAX_TOOL_NAME_LENGTH);
}

/** Whether a result is one of the two pointers, which say only that it is gone. */
export function isPointer(result: unknown): boolean {
  return result === PRUNED_POINTER || result === REMOVED_POINTER;
}

/**
 * Returns the kind of a response's result. A line counts as a placeholder only in the response that it was made for: of this
 * tool and, if it has an id, of this call.
 */
export function placeholderKind({
  toolName,
  callId,
  result,
}: Pick<ToolResponseBlock, 'toolName' | 'callId' | 'result'>): PlaceholderKind {
  if (isPointer(result)) return 'pointer';
  if (typeof result !== 'string' || result.length > MAX_PLACEHOLDER_LENGTH) return 'none';
  if (!result.startsWith('[') || !result.endsWith(BARE_ENDING)) return 'none';
  if (!result.startsWith(`[${shownToolName(toolName)}`) || result !== onOneLine(result)) {
    return 'none';
  }
  const ending = FORMS.map((form) => placeholderEnding(callId, form)).find((candidate) =>
    result.endsWith(candidate),
  );
  const line = `${result.slice(0, -(ending?.length ?? 0))}${BARE_ENDING}`;
  if (line.length > MAX_SUMMARY_LENGTH || !OUTCOME_AT_END.test(line)) return 'none';
  return ending === BARE_ENDING ? 'summary' : 'pointer';
}

/** Whether a placeholder states that its call failed. */
export function statesFailure(
  response: Pick<ToolResponseBlock, 'toolName' | 'callId' | 'result'>,
): boolean {
  const { result } = response;
  if (typeof result !== 'string') return false;
  if (isExcerptText(result)) return result.includes(EXCERPT.failed);
  if (isPointer(result) || placeholderKind(response) === 'none') return false;
  return OUTCOME.exec(result)?.[1] === 'error';
}

/** In place of an outcome: an earlier result shows the same, and neither states how its call ended. */
export const SHOWN_THERE = 'shown there';

/** Longest ending first, because each ends with the shortest one. */
const FORMS: readonly PlaceholderForm[] = ['recallable', 'informative', 'pointer'];
const OUTCOME = / — (success|error)(?![^]* — )/;
const OUTCOME_AT_END = / — (?:success|error|shown there)(?:, \d+ (?:lines?|chars))?\]$/;

/** JSON escapes quotes, C0 controls and lone surrogates; this also escapes all other line breaks and controls. */
function quotedId(callId: string): string | undefined {
  if (callId.length > MAX_QUOTED_ID_LENGTH) return undefined;
  const quoted = JSON.stringify(callId).replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return quoted.length > MAX_QUOTED_ID_LENGTH ? undefined : quoted;
}
