// The effect of one edit on a call with its response, or on an entry without calls, as a row.

import type { ContentBlock, IContent } from '../../index.js';
import type { BlockExplanation } from '../../density.js';
import type { ReclaimRule } from '../measure/attribution.js';
import type { Subject } from '../measure/call-subject.js';
import { groupBy, largestFirst, sumsOf } from '../measure/aggregate.js';
import type { EditCause } from './session-recorder.js';

/** One row of a list of edits. */
export interface EditRow {
  /** Index of the turn: a model call, or the preflight after the last one. */
  readonly turn: number;
  readonly cause: EditCause;
  readonly rule: ReclaimRule;
  /** Why it was pruned; `null` for compressions and for shrunk results. */
  readonly why: BlockExplanation | null;
  /** `null` without a call. */
  readonly callId: string | null;
  readonly tool: string | null;
  readonly speaker: IContent['speaker'];
  /** Subject of the edited call, or the removed inclusions; `null` if neither is known. */
  readonly subject: Subject | null;
  /** Number of items in reports: 0 for entries that this or an earlier edit inserted. */
  readonly items: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The original entries. Content of the session. */
  readonly before: readonly IContent[];
}

/** Combines the parts of an edit that belong to the same call and rule. Parts without a call stay rows of their own. */
export function combinedRows(parts: readonly EditRow[]): readonly EditRow[] {
  const groups = groupBy<EditRow, unknown>(parts, (part) => {
    const { turn, cause, rule, callId } = part;
    return callId === null ? part : `${turn} ${cause.step} ${rule} ${callId}`;
  });
  return Array.from(groups.values(), (group) => {
    const [first] = group;
    // Prefer the reason of a rule: parts that were removed only along with others have the rule `none`.
    const telling = group.find(({ why }) => why !== null && why.rule !== 'none');
    return {
      ...first,
      ...sumsOf(group, ['items', 'tokensBefore', 'tokensAfter']),
      why: (telling ?? first).why,
      before: group.flatMap(({ before }) => before),
    };
  });
}

/** Returns the reclaimed tokens of a row; negative if the replacement is longer. */
export function reclaimedBy({ tokensBefore, tokensAfter }: EditRow): number {
  return tokensBefore - tokensAfter;
}

/** Returns the rows that reclaimed tokens, largest first, without summaries that were inserted and later removed: they are no items. */
export function largestRows(rows: readonly EditRow[]): readonly EditRow[] {
  const items = rows.filter((row) => row.items > 0 || row.callId !== null);
  return largestFirst(items, reclaimedBy).filter((row) => reclaimedBy(row) > 0);
}

/** Maximum UTF-16 units of one excerpt. */
const MAX_EXCERPT_LENGTH = 500;

/** Returns the start of the original content, as text. */
export function excerptOf({ before }: EditRow): string {
  let text = '';
  for (const block of before.flatMap(({ blocks }) => blocks)) {
    if (text.length > MAX_EXCERPT_LENGTH) break;
    text += `${text === '' ? '' : '\n\n'}${textOf(block)}`;
  }
  const visible = text.slice(0, MAX_EXCERPT_LENGTH).replace(INVISIBLE, '\uFFFD');
  return text.length > MAX_EXCERPT_LENGTH ? `${visible}…` : visible;
}

/** Control characters except line breaks and tabs, and bidirectional controls. */
const INVISIBLE =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

/** Returns the content of a block as text. */
export function textOf(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'code':
      return block.code;
    case 'thinking':
      return block.thought;
    case 'tool_call':
      return `${block.name} ${asText(block.parameters)}`;
    case 'tool_response':
      return block.error ?? asText(block.result);
    case 'media':
      return `[${block.mimeType}]`;
    case 'opaque':
      return `[${block.kind}]`;
  }
}

function asText(value: unknown): string {
  // JSON cannot represent `undefined`.
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
