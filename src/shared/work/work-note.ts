// The entry that carries the record of work through compactions. Its size is bounded. It is recognized by metadata only, and
// each text in it is quoted on its own line, so no text can imitate it or extend it.

import { humanText } from '../content.js';
import type { IContent } from '../content.js';
import { bytesOfLines, keepWords, lineBytes, lineOf, quotedIn } from './keep-words.js';
import { WORK_KINDS, WRITE } from './work-ledger.js';
import type { WorkKind } from './work-ledger.js';
import { NO_WORK } from './work-record.js';
import type { WorkRecord } from './work-record.js';

const REASON = 'earlier-work';

const LABEL =
  'Record of what was asked and done in entries that stood here, for reference; no new request. Kept word for word, without a model.';
const USER_WORDS = 'The user said:';
const HEADINGS: Readonly<Record<WorkKind, string>> = {
  denied: 'Calls that were denied:',
  failed: 'Failed when last tried:',
  written: 'Files written:',
  answered: 'Other calls, with how their last result ended:',
  passed: 'Went well when last run:',
};
const lostLine = (lost: number): string => `- ${lost} more are left out`;
const LOST = /^- (\d{1,15}) more are left out$/;

/** Share of the budget for the user's messages, which also get what the rest does not need. */
const USER_WORDS_SHARE = 0.6;
/** Maximum bytes of the headings and the lines that say how much is lost. */
const FRAME_BYTES =
  Buffer.byteLength([LABEL, USER_WORDS, ...Object.values(HEADINGS)].join('\n')) + 5 * 40 + 1;

/**
 * Writes a record as an entry of at most `maxBytes` UTF-8 bytes; `null` if nothing fits.
 *
 * @param keepsNewest whether the user's newest message is kept whole, in addition to these bytes @default false
 */
export function workNote(
  record: WorkRecord,
  maxBytes: number,
  keepsNewest: boolean = false,
): IContent | null {
  const newest = keepsNewest ? record.userWords.slice(-1) : [];
  const others = record.userWords.slice(0, record.userWords.length - newest.length);
  const room = Math.max(0, maxBytes - FRAME_BYTES);
  const saidBytes = bytesOfLines(others);
  const saidRoom = Math.max(
    Math.floor(room * USER_WORDS_SHARE),
    room - bytesOfLines(record.done.keys()),
  );
  const { words, lost } = keepWords(others, saidRoom);
  const userWords = [...words, ...newest];
  const { done, lostDone } = keepDone(record, room - Math.min(saidBytes, saidRoom));
  if (userWords.length === 0 && done.size === 0) return null;
  const kept = { userWords, lostUserWords: record.lostUserWords + lost, done, lostDone };
  return humanText(textOf(kept), { isSummary: true, synthetic: true, reason: REASON });
}

/** Whether an entry is a work note. */
export function isWorkNote({ speaker, metadata }: IContent): boolean {
  return speaker === 'human' && metadata?.reason === REASON && metadata.synthetic === true;
}

/** Reads the record in an entry; `NO_WORK` if the entry is not a work note. */
export function readWorkNote(entry: IContent): WorkRecord {
  const [block] = entry.blocks;
  if (!isWorkNote(entry) || block?.type !== 'text') return NO_WORK;
  const userWords: string[] = [];
  const done = new Map<string, WorkKind>();
  const lostDone: Partial<Record<WorkKind, number>> = {};
  let lostUserWords = 0;
  let section: WorkKind | 'userWords' | undefined;
  for (const line of block.text.split('\n')) {
    const text = quotedIn(line);
    const lost = Number(LOST.exec(line)?.[1] ?? 0);
    if (section === 'userWords') {
      lostUserWords += lost;
      if (text !== undefined) userWords.push(text);
    } else if (section !== undefined) {
      if (lost > 0) lostDone[section] = lost;
      if (text !== undefined) done.set(section === 'written' ? WRITE + text : text, section);
    }
    section = sectionOf(line) ?? section;
  }
  return { userWords, lostUserWords, done, lostDone };
}

function sectionOf(line: string): WorkKind | 'userWords' | undefined {
  return line === USER_WORDS ? 'userWords' : WORK_KINDS.find((kind) => HEADINGS[kind] === line);
}

/** Keeps denied and failed work first, then the rest, the latest of each kind first. */
function keepDone(record: WorkRecord, budget: number): Pick<WorkRecord, 'done' | 'lostDone'> {
  const kept = new Set<string>();
  const lostDone = { ...record.lostDone };
  let left = budget;
  for (const kind of WORK_KINDS) {
    for (const name of namesOf(record, kind).reverse()) {
      const bytes = lineBytes(name);
      if (bytes <= left) {
        left -= bytes;
        kept.add(name);
      } else {
        lostDone[kind] = (lostDone[kind] ?? 0) + 1;
      }
    }
  }
  return { done: new Map([...record.done].filter(([name]) => kept.has(name))), lostDone };
}

function namesOf({ done }: WorkRecord, kind: WorkKind): string[] {
  return [...done].flatMap(([name, known]) => (known === kind ? [name] : []));
}

function textOf(record: WorkRecord): string {
  const { userWords, lostUserWords, lostDone } = record;
  const lines = [LABEL, ...sectionLines(USER_WORDS, userWords, lostUserWords)];
  for (const kind of WORK_KINDS) {
    const names = namesOf(record, kind);
    const shown = kind === 'written' ? names.map((name) => name.slice(WRITE.length)) : names;
    lines.push(...sectionLines(HEADINGS[kind], shown, lostDone[kind] ?? 0));
  }
  return lines.join('\n');
}

function sectionLines(heading: string, texts: readonly string[], lost: number): readonly string[] {
  if (texts.length === 0 && lost === 0) return [];
  return [heading, ...(lost > 0 ? [lostLine(lost)] : []), ...texts.map(lineOf)];
}
