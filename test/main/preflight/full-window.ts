// A session's history with work for every step of the preflight: reads that a write made stale, a file included twice, old results for a compression, and a
// tail that does not fit.

import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';

/** A window that `fullHistory` does not fit, however it is compressed. */
export const FULL_WINDOW_LIMIT = 3_000;

function text(length: number): string {
  return 'lorem ipsum '.repeat(length / 12);
}

/** New entries each time: 27 of them, some 12,000 estimated tokens. */
export function fullHistory(): IContent[] {
  const old = Array.from(
    { length: 6 },
    (_, at) => `a:g${at + 20} t:g${at + 20}(${text(1_200)})`,
  ).join(' ');
  return historyOf(`
    h:begin a:*s1,r1 t:r1(${text(2_400)}) a:w2 t:w2
    h:look+@b.ts(${text(600)}) ${old} h:again+@b.ts(${text(600)}) a:done
    h:now a:*s2,s3 t:s3(${text(18_000)}) a:s4,s5 t:s4(${text(18_000)}),s5(short) a:r6(c.ts) t:r6`);
}
