// Groups of warnings of a transcript's reader.

import { describe, expect, test } from 'vitest';
import { groupWarnings } from '../../../src/cli/replay/replay-totals.js';

describe('groupWarnings', () => {
  test('counts equal messages, and names the first places', () => {
    const many = Array.from({ length: 7 }, (_, at) => ({ message: 'Odd.', line: at + 1 }));
    expect(groupWarnings([...many, { message: 'Strange.', place: 'messages[3]' }])).toEqual([
      { message: 'Odd.', count: 7, places: ['line 1', 'line 2', 'line 3', 'line 4', 'line 5'] },
      { message: 'Strange.', count: 1, places: ['messages[3]'] },
    ]);
  });

  test('omits the text that a parser quotes from a damaged line', () => {
    const message = 'The line is no JSON and was left out: "secret" is not valid JSON';
    const [group] = groupWarnings([{ message, line: 1 }]);
    expect(group?.message).toBe('The line is no JSON and was left out');
  });
});
