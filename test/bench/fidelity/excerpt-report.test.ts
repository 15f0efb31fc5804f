// The identifiers that an excerpt keeps.

import { describe, expect, it } from 'vitest';
import { excerptTable } from '../../../bench/fidelity/excerpt-report.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import { says, shell, transcriptOf, user } from './support/made-session.js';

/** A result of many plain lines with one name. */
const LONG = [...Array.from({ length: 300 }, (_, at) => `some words ${at}`), 'FirstName.ts'];

describe('excerptTable', () => {
  it('counts identifiers of large results, and those in the excerpt', () => {
    const session = transcriptOf(
      user('go'),
      ...shell('a', 'ls', LONG.join('\n')),
      ...shell('b', 'ls', 'SmallName.ts'),
      ...shell('c', 'wc FirstName.ts SmallName.ts', '1'),
      says('done'),
    );
    const { rows } = excerptTable([recordSession('s', session)]);
    expect(rows).toEqual([
      ['all calls', '1', '100 %', '100 %'],
      ['edits and writes', '0', '–', '–'],
      ['other calls', '1', '100 %', '100 %'],
    ]);
  });
});
