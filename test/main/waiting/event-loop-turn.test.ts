import { describe, expect, it } from 'vitest';
import { beginWork, nextTurn } from '../../../src/main/waiting/event-loop-turn.js';

const LONG = 1_000;
const SHORT = 1;

/** Runs work of some turns that notes its name in each of them, and once more at its end. */
async function work(log: string[], name: string, length: number, signal?: AbortSignal) {
  const turn = beginWork(length, signal);
  for (let left = 3; left > 0; left -= 1) {
    await turn();
    log.push(name);
  }
  log.push(`${name} done`);
}

describe('work in turns of the event loop', () => {
  it('finishes long work in the order in which it began', async () => {
    const log: string[] = [];
    await Promise.all(['a', 'b', 'c'].map((name) => work(log, name, LONG)));
    expect(log).toEqual(['a', 'b', 'c'].flatMap((name) => [name, name, name, `${name} done`]));
  });

  it('gives each turn to one work, so that messages are read in between', async () => {
    const log: string[] = [];
    const all = Promise.all(['a', 'b', 'c'].map((name) => work(log, name, LONG)));
    for (let turns = 1; turns <= 9; turns += 1) {
      await nextTurn();
      expect(log.filter((name) => name.length === 1)).toHaveLength(turns);
    }
    await all;
  });

  it('does short work first, also if it begins later', async () => {
    const log: string[] = [];
    const long = work(log, 'long', LONG);
    await nextTurn();
    await work(log, 'short', SHORT);
    expect(log).toEqual(['long', 'short', 'short', 'short', 'short done']);
    await long;
  });

  it('goes on with younger work while older work waits for something else, and with the older one after that', async () => {
    const log: string[] = [];
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => {
      answer = resolve;
    });
    const turn = beginWork(LONG);
    const older = turn()
      .then(() => answered)
      .then(turn)
      .then(() => log.push('older'));
    await work(log, 'younger', LONG);
    expect(log).not.toContain('older');
    const youngest = work(log, 'youngest', LONG);
    answer();
    await Promise.all([older, youngest]);
    expect(log.indexOf('older')).toBeLessThan(log.indexOf('youngest done'));
  });

  it('ends aborted work at once, whatever is ahead of it', async () => {
    const log: string[] = [];
    const ending = new AbortController();
    const ahead = work(log, 'ahead', LONG);
    const aborted = work(log, 'aborted', LONG, ending.signal);
    ending.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect(log).not.toContain('ahead done');
    await ahead;
  });
});
