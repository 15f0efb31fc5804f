// The note that carries what was asked and done through compactions: bounded, stable, and not to be forged.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { isWorkNote, readWorkNote, workNote } from '../../../src/shared/work/work-note.js';
import { WORK_KINDS, WRITE } from '../../../src/shared/work/work-ledger.js';
import { NO_WORK } from '../../../src/shared/work/work-record.js';
import type { WorkRecord } from '../../../src/shared/work/work-record.js';
import { arbitraryText } from '../../support/arbitrary-text.js';
import { runs } from '../../support/scale.js';

const text = fc.oneof(
  arbitraryText(40),
  fc.lorem({ mode: 'sentences', maxCount: 20 }),
  fc.constantFrom(
    'Never push to main.',
    "Don't touch the lock file. Go on.",
    '- "a"',
    'The user said:',
  ),
);

const arbitraryRecord: fc.Arbitrary<WorkRecord> = fc.record({
  userWords: fc.array(text, { maxLength: 30 }),
  lostUserWords: fc.nat(3),
  done: fc
    .array(fc.tuple(text, fc.constantFrom(...WORK_KINDS)), { maxLength: 40 })
    .map((pairs) => new Map(pairs.map(([name, kind]) => [nameOf(name, kind), kind] as const))),
  lostDone: fc.record(
    { failed: fc.integer({ min: 1, max: 9 }), passed: fc.integer({ min: 1, max: 9 }) },
    { requiredKeys: [] },
  ),
});

function nameOf(name: string, kind: (typeof WORK_KINDS)[number]): string {
  return kind === 'written' ? WRITE + name : name;
}

function textOf(note: IContent | null): string {
  const block = note?.blocks[0];
  return block?.type === 'text' ? block.text : '';
}

/** The order among kinds is not part of a record. */
function plain({ userWords, lostUserWords, done, lostDone }: WorkRecord): unknown {
  return { userWords, lostUserWords, lostDone, done: [...done].map(String).sort() };
}

const PLENTY = 1_000_000;

describe('workNote', () => {
  it('takes no more room than allowed', () => {
    let notes = 0;
    fc.assert(
      fc.property(arbitraryRecord, fc.integer({ min: 0, max: 6_000 }), (record, maxBytes) => {
        const note = workNote(record, maxBytes);
        if (note === null) return;
        notes += 1;
        expect(Buffer.byteLength(textOf(note))).toBeLessThanOrEqual(maxBytes);
        expect(findViolations([note])).toEqual([]);
      }),
      { numRuns: runs(2_000) },
    );
    expect(notes).toBeGreaterThan(10);
  });

  it.each([
    'Ändere nie die Tests.',
    'No lo borres.',
    'Não apague o banco.',
    'Никогда не трогай конфиг.',
    'לא לגעת בקובץ.',
    'لا تحذف الملف.',
    '不要修改数据库。',
    'ファイルを削除しないで。',
  ])('drops %s after everything else that the user said', (prohibition) => {
    const others = Array.from({ length: 12 }, (_, at) => `Look at part ${at} of it, please. `);
    const said = ['Build it. ', `${others.join('')}${prohibition}`, ...others];
    const note = workNote({ ...NO_WORK, userWords: said }, 800);
    expect(textOf(note)).toContain(prohibition);
    expect(textOf(note)).toMatch(/\n- \d+ more are left out\n/);
    expect(readWorkNote(note ?? humanText('')).lostUserWords).toBeGreaterThan(0);
  });

  it('drops nothing that fits', () => {
    fc.assert(
      fc.property(arbitraryRecord, (record) => {
        const note = workNote(record, PLENTY);
        fc.pre(note !== null);
        expect(plain(readWorkNote(note))).toEqual(plain(record));
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('is unchanged when it is read and written again', () => {
    fc.assert(
      fc.property(arbitraryRecord, fc.integer({ min: 800, max: 4_000 }), (record, maxBytes) => {
        const note = workNote(record, maxBytes);
        fc.pre(note !== null);
        expect(workNote(readWorkNote(note), maxBytes)).toEqual(note);
        expect(workNote(record, maxBytes)).toEqual(note);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('keeps words exactly as they were said, in order', () => {
    const marked = fc.array(fc.lorem({ mode: 'sentences', maxCount: 30 }), { minLength: 5 });
    fc.assert(
      fc.property(marked, fc.integer({ min: 900, max: 3_000 }), (said, maxBytes) => {
        const note = workNote({ ...NO_WORK, userWords: said }, maxBytes);
        fc.pre(note !== null);
        const kept = readWorkNote(note);
        expect(kept.userWords.length + kept.lostUserWords).toBe(said.length);
        let from = 0;
        for (const words of kept.userWords) {
          const pieces = words.split(/\[…\d+…\] /).filter((piece) => piece !== '');
          const at = said.findIndex(
            (message, index) => index >= from && pieces.every((piece) => message.includes(piece)),
          );
          expect(at).toBeGreaterThanOrEqual(from);
          from = at + 1;
        }
      }),
      { numRuns: runs(500) },
    );
  });

  it('drops prohibitions and corrections last', () => {
    const chat = Array.from({ length: 200 }, (_, at) =>
      `Please look at part ${at} of the tree. `.repeat(5),
    );
    const said = chat.toSpliced(90, 0, 'Go on. Never push to main! Thanks a lot for that.');
    const kept = readWorkNote(workNote({ ...NO_WORK, userWords: said }, 1_200)!);
    expect(kept.userWords.join('\n')).toContain('Never push to main!');
    expect(kept.lostUserWords).toBeGreaterThan(150);
  });

  it('prefers demands at the end of a long task, and later changes, to explanations', () => {
    const story = Array.from(
      { length: 14 },
      (_, at) => `Part ${at} has a different idea of a price. `,
    );
    const items = [
      '1. Keys are inv-<id>.',
      '2. Amounts are in cents; EUR and CHF.',
      '- Flag payments_v2.',
    ];
    const demands = [
      'Under no circumstances touch the ledger table.',
      'Make sure to run the tests.',
    ];
    const task = `Migrate the billing. ${story.join('')}\nPlan:\n${items.join('\n')}\n${story.join('')}\n${demands.join(' ')}`;
    const later = ['Can you also bump stripe to 17.4?', 'Skip CHF for now.', 'It moved to Monday.'];
    const kept = readWorkNote(workNote({ ...NO_WORK, userWords: [task, ...later] }, 1_500)!);
    const [first = ''] = kept.userWords;
    for (const said of ['Migrate the billing.', ...items, ...demands])
      expect(first).toContain(said);
    expect(kept.userWords.slice(1)).toEqual(later);
  });

  it('drops pasted text before typed text, however often it is reduced', () => {
    const rules = Array.from({ length: 300 }, (_, at) => `Rule ${at}: it must never be empty.\n`);
    const typed = ['Build it.', 'Do not use regular expressions.'];
    let record: WorkRecord = { ...NO_WORK, userWords: typed };
    for (let round = 0; round < 6; round += 1) {
      typed.push(`Then build part ${round}.`);
      const pasted = `Here is log ${round}:\n${rules.join('')}`;
      const said = [...record.userWords, typed.at(-1)!, pasted];
      record = readWorkNote(workNote({ ...record, userWords: said }, 2_500)!);
      expect(record.userWords).toEqual(expect.arrayContaining(typed));
    }
  });

  it('states how much of a message is omitted, even if more is dropped later', () => {
    const said = Array.from({ length: 40 }, (_, at) => `Part ${at} of the work is like this.`);
    let record: WorkRecord = { ...NO_WORK, userWords: [said.join(' ')] };
    for (const maxBytes of [1_500, 1_200, 900]) {
      record = readWorkNote(workNote(record, maxBytes)!);
      const [words = ''] = record.userWords;
      const gaps = [...words.matchAll(/\[…(\d+)…\] /g)];
      const units = gaps.reduce((sum, [mark, count]) => sum + Number(count) - mark.length, 0);
      expect(gaps.length).toBeGreaterThan(0);
      expect(words.length + units).toBe(said.join(' ').length);
    }
  });

  it('keeps the name of a file whole', () => {
    const chat = Array.from({ length: 50 }, (_, at) => `Please look at part ${at} of it. `);
    const prohibition = 'Never touch src/legacy.c, which the importer of the old warehouse needs!';
    const said = [`${chat.join('')}${prohibition} ${chat.join('')}`];
    expect(textOf(workNote({ ...NO_WORK, userWords: said }, 900))).toContain(prohibition);
  });

  it('drops what was asked in between before what was asked first', () => {
    const said = Array.from({ length: 50 }, (_, at) => `Message number ${at} says something here.`);
    const kept = readWorkNote(workNote({ ...NO_WORK, userWords: said }, 1_400)!);
    expect(kept.userWords.length).toBeLessThan(50);
    expect(kept.userWords[0]).toContain('number 0');
    expect(kept.userWords.at(-1)).toContain('number 49');
  });

  it('drops successes before failures, and the oldest first', () => {
    const done = new Map([
      ...Array.from({ length: 30 }, (_, at) => [`npm run good${at}`, 'passed'] as const),
      ['npm test', 'failed'] as const,
      ['rm -rf /', 'denied'] as const,
    ]);
    const kept = readWorkNote(workNote({ ...NO_WORK, done }, 900)!);
    expect(kept.done.get('npm test')).toBe('failed');
    expect(kept.done.get('rm -rf /')).toBe('denied');
    expect(kept.done.has('npm run good29')).toBe(true);
    expect(kept.done.has('npm run good0')).toBe(false);
    expect(kept.lostDone.passed).toBe(32 - kept.done.size);
  });

  it('is undefined without room, or without content', () => {
    expect(workNote({ ...NO_WORK, userWords: ['hello'] }, 20)).toBeNull();
    expect(workNote(NO_WORK, PLENTY)).toBeNull();
  });
});

describe('readWorkNote', () => {
  it('reads nothing from foreign entries', () => {
    const note = workNote({ ...NO_WORK, userWords: ['Ship it.'] }, PLENTY)!;
    const said = humanText(textOf(note));
    expect(isWorkNote(said)).toBe(false);
    expect(readWorkNote(said)).toEqual(NO_WORK);
    expect(readWorkNote({ ...note, speaker: 'ai' })).toEqual(NO_WORK);
  });
});
