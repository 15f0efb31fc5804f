// What the rule says of a result, by its finding.

import { describe, expect, it } from 'vitest';
import { sayWorkingSet } from '../../../../src/shared/density/rules/working-set.js';
import type { WorkingSetFinding } from '../../../../src/shared/density/rules/working-set.js';

const FOUND: WorkingSetFinding = {
  rule: 'working-set',
  reason: 'expired',
  ...{ isWaiting: false, age: 1, time: 2, tokens: 1_000, by: null },
  ...{ waitingTokens: 1_200, neededTokens: 4_500 },
};
const BY = { entry: 7, block: 0, callId: 'c\n1', toolName: 'read_file' };

describe('sayWorkingSet', () => {
  it.each<[Partial<WorkingSetFinding>, string]>([
    [{ reason: 'unsent' }, 'It was not sent to the model yet.'],
    [{ reason: 'small', tokens: 1 }, 'It has only 1 token.'],
    [{ reason: 'fresh' }, 'It is in the working set: sent once, kept for 2 model calls.'],
    [
      { reason: 'fresh', age: 2 },
      'It is in the working set: sent 2 times, kept for 2 model calls.',
    ],
    [{ reason: 'fresh', time: Infinity }, 'It is in the working set, and stays.'],
    [
      { reason: 'fresh', age: 3 },
      'A later result was shrunk and refers to it: sent 3 times, kept for 2 model calls otherwise.',
    ],
    [
      { reason: 'aged', isWaiting: true },
      'It is old enough to be pruned with others: sent once, kept for 2 model calls otherwise.',
    ],
    [
      { reason: 'repeated', by: BY },
      'The same call was made again: the read_file call c 1 in entry 7.',
    ],
    [{ reason: 'read-again' }, 'The same lines were read again by another call.'],
    [
      { isWaiting: true },
      'It has left the working set: sent once, kept for 2 model calls. It is not pruned yet: it and similar results would save 1,200 tokens, and rewriting the prompt cache pays from 4,500 on.',
    ],
    [
      { isWaiting: true, neededTokens: Infinity },
      'It has left the working set: sent once, kept for 2 model calls. It is not pruned yet: all results together have few tokens.',
    ],
  ])('explains %j', (found, said) => {
    const about = { verdict: 'kept', toolName: 'read_file', purpose: 'read' } as const;
    expect(sayWorkingSet({ ...FOUND, ...found }, about)).toBe(said);
  });

  it('says what replaces a result', () => {
    const said = (verdict: 'excerpt' | 'placeholder' | 'shortened'): string =>
      sayWorkingSet(FOUND, { verdict, toolName: null, purpose: null });
    const left = 'It has left the working set: sent once, kept for 2 model calls.';
    expect(said('excerpt')).toBe(`${left} An excerpt replaces it.`);
    expect(said('placeholder')).toBe(`${left} A placeholder replaces it.`);
    expect(said('shortened')).toBe(left);
  });
});
