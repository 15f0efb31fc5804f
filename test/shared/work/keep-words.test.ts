// Which sentences of the user's messages are kept, by a naive second implementation, and in which order they are dropped.

import { describe, expect, it } from 'vitest';

import { bytesOfLines, keepWords } from '../../../src/shared/work/keep-words.js';

/** Sentences of equal length in bytes of JSON. */
function sentences(count: number, text: (at: string) => string): string[] {
  return Array.from({ length: count }, (_, at) => text(String(at).padStart(3, '0')));
}

/** Adds each sentence that fits, the most important ones first, and measures the text each time. */
function keepNaively(
  messages: readonly (readonly string[])[],
  byImportance: readonly string[],
  budget: number,
): readonly string[] {
  const kept = new Set<string>();
  const shown = (lengthOf: (gap: string, all: string) => number): readonly string[] =>
    messages.flatMap((all) => {
      const marked = all.map((each) => (kept.has(each) ? each : '\0'.repeat(each.length)));
      const words = marked.join('').replace(/\0+/g, (gap) => `[…${lengthOf(gap, all.join(''))}…] `);
      return all.some((each) => kept.has(each)) ? [words] : [];
    });
  for (const sentence of byImportance) {
    kept.add(sentence);
    // A gap is taken to be as long as the message: its number has at most as many digits.
    if (bytesOfLines(shown((_, { length }) => length)) > budget) kept.delete(sentence);
  }
  return shown(({ length }) => length);
}

describe('keepWords', () => {
  it('keeps whatever fits, whether or not the rest does', () => {
    const task = sentences(5, (at) => `Do the thing  ${at}. `);
    const answer = ['Is it as I said?? \n'];
    const more = [...sentences(3, (at) => `And the other ${at}. `), 'Then do the rest'];
    const messages = [task, answer, more].map((all) => all.join(''));
    const all = bytesOfLines(messages);
    for (let budget = 0; budget < all; budget += 1) {
      const { words, lost } = keepWords(messages, budget);
      const order = [...task, ...more, ...answer];
      expect(words).toEqual(keepNaively([task, answer, more], order, budget));
      expect(lost).toBe(messages.length - words.length);
    }
    expect(keepWords(messages, all)).toEqual({ words: messages, lost: 0 });
  });

  it('drops the end of pasted text first, then that of the task, then the beginning of either', () => {
    const task = sentences(55, (at) => `Do the thing  ${at}. `);
    const [item, rule] = ['- Do an item 051.\n', 'Never do this 053. '];
    task.splice(50, 4, 'Do the thing 050.\n', item, 'Do the thing  052. ', rule);
    const log = sentences(55, (at) => `Did the thing ${at}. `);
    const ban = 'Never do this 036. ';
    log.splice(0, 1, '<log> it was  000. ');
    log.splice(36, 1, ban);
    const plain = (all: readonly string[]): readonly string[] =>
      all.filter((each) => ![item, rule, ban].includes(each));
    const order = [
      ...[rule, ...task.slice(0, 11), item, ...task.slice(11, 32)],
      ...[...log.slice(0, 32), ban, ...plain(task.slice(32)), ...plain(log.slice(32))],
    ];
    const messages = [task.join(''), log.join('')];
    for (let budget = 0; budget < bytesOfLines(messages); budget += 57) {
      expect(keepWords(messages, budget).words).toEqual(keepNaively([task, log], order, budget));
    }
  });

  it.each([
    ['不要修改 config.ts。', '这个项目有许多模块。'],
    ['请勿删除数据库！', '这个项目有许多模块。'],
    ['config.ts は触らないでください。', 'このプロジェクトには多くのモジュールがある。'],
    ['変更してはいけません。', 'このプロジェクトには多くのモジュールがある。'],
    ['npm 대신 pnpm을 사용하세요. ', '이 프로젝트에는 모듈이 많다. '],
    ['Bitte config.ts nicht anfassen! ', 'Das Projekt hat viele Module. '],
    ['Il ne faut rien supprimer. ', 'Le projet a beaucoup de modules. '],
    ['Запрещено удалять базу. ', 'У проекта много модулей. '],
    ['ممنوع حذف قاعدة البيانات. ', 'للمشروع وحدات كثيرة. '],
  ])('drops prohibitions last in any of a few languages: %s', (ban, sentence) => {
    const message = sentence.repeat(50) + ban + sentence.repeat(9);
    expect(keepWords([sentence.repeat(50), message], 400).words.join('')).toContain(ban);
  });

  it.each([
    ['ファイルを整理するなどの作業がある。', 'モジュールが多い。'],
    ['모든 페이지마다 제목이 있다. ', '모듈이 많다. '],
  ])('takes no ordinary sentence for a prohibition: %s', (ordinary, sentence) => {
    const message = sentence.repeat(50) + ordinary + sentence.repeat(9);
    expect(keepWords([sentence.repeat(50), message], 400).words.join('')).not.toContain(ordinary);
  });

  it('counts what it does not read of a very long message', () => {
    const [words = ''] = keepWords(['Do it. '.repeat(30_000)], 1_000).words;
    const [gap, ...others] = words.matchAll(/\[…(\d+)…\] /g);
    expect(others).toEqual([]);
    expect(words.length - (gap?.[0].length ?? 0) + Number(gap?.[1])).toBe(210_000);
  });
});
