// Leaves out texts in the arguments of a write that are of no more use: what an edit replaced, or content that was written or read
// again.

import { SPENT_TEXT } from '../../call-name.js';
import { asRecord } from '../../json.js';
import type { JsonRecord } from '../../json.js';
import { tokensOfCharacters } from '../../tokens/estimate.js';

/** Parameters for text that an edit replaces, by the names that agents use. */
const REPLACED_KEYS: ReadonlySet<string> = new Set([
  ...['old_string', 'old_str', 'old_text', 'oldString', 'oldText', 'old'],
]);
/** Parameters for the whole content of a file. */
const CONTENT_KEYS: ReadonlySet<string> = new Set(['content', 'contents', 'file_text']);
/** A list of edits in one call. */
const EDITS_KEY = 'edits';
const PATCH = '*** Begin Patch';
/** Only the patch of a script: other lines of it may start with a minus as well. */
const PATCHES = /\*\*\* Begin Patch[^]*?(?:\*\*\* End Patch|$)/g;
const REMOVED_LINES = /(?:^-.*\n)+/gm;

/** Shorter texts are never left out. In UTF-16 units. */
const MIN_SPENT_LENGTH = 160;
const MAX_EDITS = 1_000;

/** What can become useless in a write: the text that an edit replaced, the lines that a patch removed, or the content written. */
type SpendableText = 'replaced' | 'patched' | 'content';

/** The notes that replace spent texts. They claim nothing about the file, which may contain the text still or again. */
const WAS_REPLACED = `${SPENT_TEXT}what this edit has replaced]`;
const WAS_WRITTEN = `${SPENT_TEXT}written or read again since]`;

function spendableText(values: JsonRecord): SpendableText {
  const keys = Object.keys(values);
  if (keys.some((key) => REPLACED_KEYS.has(key) || key === EDITS_KEY)) return 'replaced';
  const hasPatch = Object.values(values).some(
    (value) => typeof value === 'string' && value.includes(PATCH),
  );
  return hasPatch ? 'patched' : 'content';
}

/** Estimates the tokens that `withoutSpentText` saves. Content is spent only in writes of whole files, other texts only in others. */
export function spendableTokens(parameters: unknown, isWholeFile: boolean): number {
  const values = asRecord(parameters);
  if (values === undefined || isWholeFile !== (spendableText(values) === 'content')) return 0;
  let length = 0;
  mapSpendable(values, (text, note) => {
    length += text.length - note.length;
    return text;
  });
  return tokensOfCharacters(length);
}

/** Replaces the spendable texts in arguments by a short note. Fields and their types stay. */
export function withoutSpentText(parameters: unknown): unknown {
  const values = asRecord(parameters);
  return values === undefined ? parameters : mapSpendable(values, (_, note) => note);
}

type Replace = (text: string, note: string) => string;

function mapSpendable(values: JsonRecord, replace: Replace): JsonRecord {
  const kind = spendableText(values);
  const edits = values[EDITS_KEY];
  const isList = kind === 'replaced' && Array.isArray(edits) && edits.length <= MAX_EDITS;
  return {
    ...mapTexts(values, kind, replace),
    ...(isList && {
      [EDITS_KEY]: edits.map((edit: unknown) => {
        const fields = asRecord(edit);
        return fields === undefined ? edit : mapTexts(fields, kind, replace);
      }),
    }),
  };
}

function mapTexts(values: JsonRecord, kind: SpendableText, replace: Replace): JsonRecord {
  const textOf = (key: string, text: string): string => {
    if (text.length < MIN_SPENT_LENGTH) return text;
    if (kind === 'patched') return text.replaceAll(PATCHES, withoutRemovedLines);
    if (kind === 'content') return CONTENT_KEYS.has(key) ? replace(text, WAS_WRITTEN) : text;
    return REPLACED_KEYS.has(key) ? replace(text, WAS_REPLACED) : text;
  };
  const withoutRemovedLines = (patch: string): string =>
    patch.replaceAll(REMOVED_LINES, (lines) =>
      lines.length < MIN_SPENT_LENGTH ? lines : `-${replace(lines.slice(1, -1), WAS_REPLACED)}\n`,
    );
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      typeof value === 'string' ? textOf(key, value) : value,
    ]),
  );
}
