// The user's words that count as needs, and when.

import { describe, expect, it } from 'vitest';
import { ShownBefore } from '../../../../bench/fidelity/needs/shown-before.js';
import { userWordNeeds } from '../../../../bench/fidelity/needs/user-words.js';
import type { IContent } from '../../../../src/index.js';
import { says, user } from '../support/made-session.js';

function wordsOf(...entries: readonly IContent[]): (readonly [number, readonly string[]])[] {
  return userWordNeeds(entries, new ShownBefore(entries)).map(({ entry, lines }) => [entry, lines]);
}

describe('userWordNeeds', () => {
  it('needs each message of the user at the last answer', () => {
    expect(wordsOf(user('One\n\n  Two'), says('Yes.'), user('Three'), says('Done.'))).toEqual([
      [3, ['One', 'Two']],
      [3, ['Three']],
    ]);
  });

  it('ignores summaries, texts added by a host, and messages without an answer', () => {
    const summary = { ...user('So far'), metadata: { isSummary: true } };
    const added = { ...user('Reminder'), metadata: { synthetic: true } };
    expect(wordsOf(summary, added, says('Yes.'), user('Late'))).toEqual([]);
    expect(wordsOf(user('Alone'))).toEqual([]);
  });
});
