// Whose words are looked for, and when.

import { describe, expect, it } from 'vitest';
import { ShownBefore } from '../../../../bench/fidelity/needs/shown-before.js';
import { userWordNeeds } from '../../../../bench/fidelity/needs/user-words.js';
import type { IContent } from '../../../../src/index.js';
import { says, user } from '../support/made-session.js';

function wordsOf(...entries: readonly IContent[]): (readonly [number, readonly string[]])[] {
  return userWordNeeds(entries, new ShownBefore(entries)).map(({ entry, lines }) => [entry, lines]);
}

describe('userWordNeeds', () => {
  it('looks for each message of the user when the last answer is given', () => {
    expect(wordsOf(user('One\n\n  Two'), says('Yes.'), user('Three'), says('Done.'))).toEqual([
      [3, ['One', 'Two']],
      [3, ['Three']],
    ]);
  });

  it('leaves out summaries, what a host added, and what nothing answers', () => {
    const summary = { ...user('So far'), metadata: { isSummary: true } };
    const added = { ...user('Reminder'), metadata: { synthetic: true } };
    expect(wordsOf(summary, added, says('Yes.'), user('Late'))).toEqual([]);
    expect(wordsOf(user('Alone'))).toEqual([]);
  });
});
