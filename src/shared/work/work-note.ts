// The one entry that carries a record of work through compactions: bounded, and told from what anybody says by its metadata
// alone. Every text in it is quoted on a line of its own, so none can add to it.

import { humanText } from '../content.js';
import type { IContent } from '../content.js';
import { keepWords, lineBytes, lineOf, quotedIn } from './said.js';
import { NO_WORK, WORK_KINDS, WRITE } from './work-record.js';
import type { WorkKind, WorkRecord } from './work-record.js';

const REASON = 'earlier-work';

const LABEL =
  'Record of what was asked and done in entries that stood here, for reference; no new request. Kept word for word, without a model.';
const SAID = 'The user said:';
const HEADINGS: Readonly<Record<WorkKind, string>> = {
  denied: 'Calls that were denied:',
  failed: 'Failed when last tried:',
  written: 'Files written:',
  passed: 'Commands that went well when last run:',
};
const lostLine = (lost: number): string => `- ${lost} more before these`;
const LOST = /^- (\d{1,15}) more before these$/;

/** Of the room, what users said has so much, and more where the rest needs less. */
const SAID_SHARE = 0.6;
/** What headings take at most, with the lines that say how much is lost. */
const FRAME_BYTES =
  Buffer.byteLength([LABEL, SAID, ...Object.values(HEADINGS)].join('\n')) + 5 * 40 + 1;

/** Returns the entry that carries a record in at most so many UTF-8 bytes, or `null` when that is too little to say anything. */
export function workNote(record: WorkRecord, maxBytes: number): IContent | null {
  const room = maxBytes - FRAME_BYTES;
  if (room <= 0) return null;
  const saidBytes = record.said.reduce((sum, text) => sum + lineBytes(text), 0);
  const doneBytes = Array.from(record.done, ([name]) => lineBytes(name)).reduce(sumOf, 0);
  const saidRoom = Math.max(Math.floor(room * SAID_SHARE), room - doneBytes);
  const { said, lost } = keepWords(record.said, saidRoom);
  const { done, lostDone } = keepDone(record, room - Math.min(saidBytes, saidRoom));
  if (said.length === 0 && done.size === 0) return null;
  const kept = { said, lostSaid: record.lostSaid + lost, done, lostDone };
  return humanText(textOf(kept), { isSummary: true, synthetic: true, reason: REASON });
}

/** Whether an entry carries a record of work. */
export function isWorkNote({ speaker, metadata }: IContent): boolean {
  return speaker === 'human' && metadata?.reason === REASON && metadata.synthetic === true;
}

/** Returns the record that an entry carries; of nothing, for an entry that carries none. */
export function readWorkNote(entry: IContent): WorkRecord {
  const [block] = entry.blocks;
  if (!isWorkNote(entry) || block?.type !== 'text') return NO_WORK;
  const said: string[] = [];
  const done = new Map<string, WorkKind>();
  const lostDone: Partial<Record<WorkKind, number>> = {};
  let lostSaid = 0;
  let section: WorkKind | 'said' | undefined;
  for (const line of block.text.split('\n')) {
    const text = quotedIn(line);
    const lost = Number(LOST.exec(line)?.[1] ?? 0);
    if (section === 'said') {
      lostSaid += lost;
      if (text !== undefined) said.push(text);
    } else if (section !== undefined) {
      if (lost > 0) lostDone[section] = lost;
      if (text !== undefined) done.set(section === 'written' ? WRITE + text : text, section);
    }
    section = sectionOf(line) ?? section;
  }
  return { said, lostSaid, done, lostDone };
}

function sectionOf(line: string): WorkKind | 'said' | undefined {
  return line === SAID ? 'said' : WORK_KINDS.find((kind) => HEADINGS[kind] === line);
}

/** Keeps what was denied or failed before what went well, and the latest of each. */
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
  const { said, lostSaid, lostDone } = record;
  const lines = [LABEL, ...sectionLines(SAID, said, lostSaid)];
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

function sumOf(sum: number, bytes: number): number {
  return sum + bytes;
}
