// Loading a counter: once, and with an error that says what to do.

import { describe, expect, test } from 'vitest';
import { CtxfoldError } from '../../../src/shared/errors.js';
import { textCounterLoader } from '../../../src/shared/tokens/o200k.js';
import { encodeTokenFile } from '../../../scripts/token-file.js';

const FILE = encodeTokenFile(['a', 'b', 'ab']);

describe('textCounterLoader', () => {
  test('reads nothing before the first call, and the file once', async () => {
    let reads = 0;
    const load = textCounterLoader(async () => {
      reads += 1;
      return FILE;
    });
    expect(reads).toBe(0);
    const [counter, same] = await Promise.all([load(), load()]);
    expect(counter.count('aab')).toBe(2);
    expect(same).toBe(counter);
    expect(await load()).toBe(counter);
    expect(reads).toBe(1);
  });

  test.each([
    ['is missing', () => Promise.reject(new Error('ENOENT: no such file.'))],
    [
      'cannot be found',
      () => {
        throw new Error('Not in this package.');
      },
    ],
    ['is cut off', () => Promise.resolve(FILE.subarray(0, -1))],
  ])('says what to do about a file that %s, and reads it anew next time', async (_name, fail) => {
    let isThere = false;
    const load = textCounterLoader(() => (isThere ? Promise.resolve(FILE) : fail()));
    const error: unknown = await load().catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CtxfoldError);
    expect(error).toMatchObject({
      code: 'TOKEN_COUNT_FAILED',
      message: expect.stringMatching(/\(.+\)\. Install ctxfold anew/),
      cause: expect.any(Error),
    });
    isThere = true;
    expect((await load()).count('ab')).toBe(1);
  });
});
