// The rows of the ledger: parts of edits that belong together in one, in the order in which they landed.

import type { ContentBlock, IContent } from '../../../index.js';
import type { ReclaimRule } from '../measure/attribution.js';
import { namePaths } from '../measure/call-subject.js';
import type { CallSubject } from '../measure/call-subject.js';
import { groupBy } from '../measure/group-by.js';
import type { EditCause, RecordedEdit } from './session-recorder.js';

/** One row of the ledger. */
export interface EditRow {
  /** Index of the turn. */
  readonly turn: number;
  readonly cause: EditCause;
  readonly rule: ReclaimRule;
  /** Why it was pruned; `null` for compressions. */
  readonly why: string | null;
  /** `null` for what belongs to no call. */
  readonly callId: string | null;
  readonly tool: string | null;
  /** Who the entries come from that belong to no call. */
  readonly speaker: IContent['speaker'];
  readonly subject: CallSubject | null;
  /** Entries or pairs that went: 0 for what an edit put in. */
  readonly items: number;
  readonly tokensBefore: number;
  readonly tokensAfter: number;
  /** What stood there. Content of the session. */
  readonly before: readonly IContent[];
}

/** Puts a call and its response together, and the entries of one speaker that one edit took. */
export function rowsOf(edits: readonly RecordedEdit[]): readonly EditRow[] {
  const groups = groupBy(edits, ({ turn, cause, attribution }) => {
    const { rule, callId, before, after, includedPaths } = attribution;
    const isPutIn = before === null;
    const concerned = callId ?? `${(before ?? after)?.speaker ?? ''} ${includedPaths.join('\n')}`;
    return JSON.stringify([turn, cause.step, rule, callId !== null, isPutIn, concerned]);
  });
  return Array.from(groups.values(), ([first, ...more]) => {
    const all = [first, ...more];
    const { rule, why, callId, toolName, includedPaths, before, after } = first.attribution;
    const sum = (valueOf: (edit: RecordedEdit) => number): number =>
      all.reduce((total, edit) => total + valueOf(edit), 0);
    return {
      turn: first.turn,
      cause: first.cause,
      rule,
      why,
      callId,
      tool: toolName,
      speaker: (before ?? after)?.speaker ?? 'human',
      subject: first.subject ?? subjectOfPaths(includedPaths),
      items: sum(({ attribution }) => attribution.items),
      tokensBefore: sum(({ tokensBefore }) => tokensBefore),
      tokensAfter: sum(({ tokensAfter }) => tokensAfter),
      before: all.flatMap(({ attribution }) => attribution.before ?? []),
    };
  });
}

function subjectOfPaths(paths: readonly string[]): CallSubject | null {
  const path = namePaths(paths);
  return path === null ? null : { path, parameter: null };
}

/** Returns the start of what stood there, as text of at most `maxLength` UTF-16 units. */
export function excerptOf({ before }: EditRow, maxLength: number): string {
  let text = '';
  for (const block of before.flatMap(({ blocks }) => blocks)) {
    if (text.length > maxLength) break;
    text += `${text === '' ? '' : '\n\n'}${textOf(block)}`;
  }
  const visible = text.slice(0, maxLength).replace(INVISIBLE, '\uFFFD');
  return text.length > maxLength ? `${visible}…` : visible;
}

/** Control characters but for line breaks and tabs, and what turns the direction of the text around. */
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
  // Nothing at all has no JSON.
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value, null, 1);
}
