// The effect of one edit on a call with its response, or on an entry without calls, as a row.

import type { ContentBlock, IContent } from '../../index.js';
import type { BlockExplanation } from '../../density.js';
import type { ReclaimRule, Attribution } from '../measure/attribution.js';
import { namePaths } from '../measure/call-subject.js';
import type { Subject } from '../measure/call-subject.js';
import { groupBy, sumOf } from '../measure/aggregate.js';
import type { EditCause } from './session-recorder.js';

/** A part of an edit, with its tokens. */
export interface RecordedEdit {
  /** Index of the turn: a model call, or the preflight after the last one. */
  readonly turn: number;
  readonly cause: EditCause;
  readonly attribution: Attribution;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** Subject of the edited call, if known. */
  readonly subject: Subject | null;
}

/** One row of a list of edits. */
export interface EditRow {
  /** Index of the turn. */
  readonly turn: number;
  readonly cause: EditCause;
  readonly rule: ReclaimRule;
  /** Why it was pruned; `null` for compressions. */
  readonly why: BlockExplanation | null;
  /** `null` without a call. */
  readonly callId: string | null;
  readonly tool: string | null;
  readonly speaker: IContent['speaker'];
  readonly subject: Subject | null;
  /** Number of items in reports: 0 for entries that this or an earlier edit inserted. */
  readonly items: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** The original entries. Content of the session. */
  readonly before: readonly IContent[];
}

/** Combines the parts of an edit that belong to the same call and rule into one row. Each part without a call is a row of its own. */
export function rowsOf(edits: readonly RecordedEdit[]): readonly EditRow[] {
  const groups = groupBy<RecordedEdit, unknown>(edits, (edit) => {
    const { rule, callId } = edit.attribution;
    return callId === null ? edit : `${edit.turn} ${edit.cause.step} ${rule} ${callId}`;
  });
  return Array.from(groups.values(), (parts) => {
    const [{ turn, cause, subject, attribution }] = parts;
    const { rule, callId, toolName, includedPaths, before, after } = attribution;
    const reasons = parts.map((edit) => edit.attribution.why);
    // Prefer the reason of a rule: parts that were removed only along with others have the rule `none`.
    const why = reasons.find((reason) => reason !== null && reason.rule !== 'none');
    return {
      ...{ turn, cause, rule, callId },
      why: why ?? reasons[0] ?? null,
      tool: toolName,
      speaker: (before ?? after)?.speaker ?? 'human',
      subject: subject ?? subjectOfPaths(includedPaths),
      items: sumOf(parts, (edit) => edit.attribution.items),
      tokensBefore: sumOf(parts, ({ tokensBefore }) => tokensBefore),
      tokensAfter: sumOf(parts, ({ tokensAfter }) => tokensAfter),
      before: parts.flatMap((edit) => edit.attribution.before ?? []),
    };
  });
}

function subjectOfPaths(paths: readonly string[]): Subject | null {
  const path = namePaths(paths);
  return path === null ? null : { path, excerpt: null };
}

/** Returns the reclaimed tokens of a row; negative if the replacement is longer. */
export function reclaimedBy({ tokensBefore, tokensAfter }: EditRow): number {
  return tokensBefore - tokensAfter;
}

/** Returns the start of the original content, as text of at most `maxLength` UTF-16 units. */
export function excerptOf({ before }: EditRow, maxLength: number): string {
  let text = '';
  for (const block of before.flatMap(({ blocks }) => blocks)) {
    if (text.length > maxLength) break;
    text += `${text === '' ? '' : '\n\n'}${textOf(block)}`;
  }
  const visible = text.slice(0, maxLength).replace(INVISIBLE, '\uFFFD');
  return text.length > maxLength ? `${visible}…` : visible;
}

/** Control characters except line breaks and tabs, and bidirectional controls. */
const INVISIBLE =
  /[\0-\x08\x0B\x0C\x0E-\x1F\x7F-\x9F\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]/g;

function textOf(block: ContentBlock): string {
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
