// Which token counts a session accepts from a thread that predicts them for the entries a pass replaces.

import { describe, expect, it } from 'vitest';

import { InlineOffload } from '../../../src/main/offload/inline.js';
import type { Offload } from '../../../src/main/offload/offload.js';
import type { IContent } from '../../../src/shared/content.js';
import { historyOf } from '../../support/notation.js';
import { entriesOf, openSession } from '../../support/session-bench.js';

/** Plans here, and predicts the tokens of one entry, some blocks of which may be left to count. */
class ForetellingOffload implements Offload {
  readonly #inline = new InlineOffload();
  readonly countTokens = this.#inline.countTokens;
  readonly #tokensAfter: readonly number[];

  constructor(entry: number, tokens: number, isLeftToCount: boolean) {
    this.#tokensAfter = [entry, tokens, isLeftToCount ? 1 : 0];
  }

  async optimize(...given: Parameters<Offload['optimize']>): ReturnType<Offload['optimize']> {
    return {
      ...(await this.#inline.optimize(...given)),
      tokensAfter: Int32Array.from(this.#tokensAfter),
    };
  }
}

/** Ten tokens for each counted block. */
const countTensOfBlocks = (contents: readonly IContent[]): Promise<readonly number[]> =>
  Promise.resolve(contents.map(({ blocks }) => 10 * blocks.length));

describe('DensityPruner', () => {
  it.each([
    ['a prediction', 'h a:s1,g2 t:s1,g2 a:s3 t:s3 h', 2, false, 60 + 100],
    [
      'a prediction, and counts the new blocks alone',
      'h a:s1,g2 t:s1,g2 a:s3 t:s3 h',
      2,
      true,
      60 + 107,
    ],
    [
      'no prediction where reasoning may have been removed',
      'h a:*,r1,g2 t:r1,g2 a:w3 t:w3 h',
      1,
      true,
      70,
    ],
  ])('uses %s', async (_, notation, entry, isLeftToCount, expected) => {
    const session = openSession({
      entries: historyOf(notation),
      countEntries: countTensOfBlocks,
      offload: new ForetellingOffload(entry, 100, isLeftToCount),
      settings: {
        'compression.density.recencyPruning': true,
        'compression.density.recencyRetention': 1,
      },
      timing: { edits: 'every-turn' },
    });
    await session.ensureCompressionBeforeSend('p');
    await session.history.waitForTokenUpdates();
    expect(entriesOf(session)).not.toBe(notation);
    expect(session.history.getTotalTokens()).toBe(expected);
  });
});
