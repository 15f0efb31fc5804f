// How the line ends that stands in place of a tool's result, and how such a line is known again. Makes
// no lines, and looks at no result that is longer than one.

import type { ToolResponseBlock } from './content.js';
import { PRUNED_POINTER } from './density.js';
import type { PlaceholderForm } from './density.js';
import { onOneLine, shortened } from './shown-text.js';

/** UTF-16 units of a summary line, without the id that it may end with. */
export const MAX_SUMMARY_LENGTH = 200;
const MAX_TOOL_NAME_LENGTH = 64;
/** An id that is longer, with its quotes, is left out: cut off it would be of no use. */
const MAX_QUOTED_ID_LENGTH = 128;
/** No placeholder is longer. */
const MAX_PLACEHOLDER_LENGTH: number = MAX_SUMMARY_LENGTH + MAX_QUOTED_ID_LENGTH + 32;

const BARE_ENDING = ']';

/** What a result is, apart from a payload. */
export type PlaceholderKind =
  /** A result like any other. */
  | 'none'
  /** A summary line that names no id. */
  | 'summary'
  /** The specification's string, or a line that names the id of the call. */
  | 'pointer';

/**
 * Returns what a line in place of the result of a call ends with: `]`, or before it the id as JSON, and
 * with `recallable` how to get the original back. An id that is too long to be quoted is left out.
 */
export function placeholderEnding(callId: string, form: PlaceholderForm): string {
  const quoted = form === 'pointer' ? undefined : quotedId(callId);
  if (quoted === undefined) return BARE_ENDING;
  return form === 'recallable' ? `; recall(${quoted}) for the original]` : `; id ${quoted}]`;
}

/** The name of a tool as lines show it: on one line, at most 64 UTF-16 units long. */
export function shownToolName(toolName: string): string {
  return shortened(onOneLine(toolName), MAX_TOOL_NAME_LENGTH);
}

/**
 * Tells what a response holds. A line counts as a placeholder only in the response that it was made
 * for: of this tool, and when it names an id, of this call.
 */
export function placeholderKind({
  toolName,
  callId,
  result,
}: Pick<ToolResponseBlock, 'toolName' | 'callId' | 'result'>): PlaceholderKind {
  if (result === PRUNED_POINTER) return 'pointer';
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

/** The longest ending first: each of them ends in the shortest one. */
const FORMS: readonly PlaceholderForm[] = ['recallable', 'informative', 'pointer'];
const OUTCOME_AT_END = / — (?:success|error)(?:, \d+ (?:lines?|chars))?\]$/;

/** JSON escapes quotes, C0 controls and lone surrogates; the rest of what breaks lines is escaped here. */
function quotedId(callId: string): string | undefined {
  if (callId.length > MAX_QUOTED_ID_LENGTH) return undefined;
  const quoted = JSON.stringify(callId).replace(
    /[\p{Cc}\p{Zl}\p{Zp}]/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return quoted.length > MAX_QUOTED_ID_LENGTH ? undefined : quoted;
}
