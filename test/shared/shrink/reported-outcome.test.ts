// Whether a call has failed, where only the words of its result tell.

import { describe, expect, it } from 'vitest';
import { toolResponse } from '../../../src/shared/content.js';
import {
  hasFailed,
  mayHaveFailed,
  onlyShows,
  sumsUpFailure,
} from '../../../src/shared/shrink/reported-outcome.js';

describe('sumsUpFailure', () => {
  it.each([
    ['dotnet', 'Test Run Failed.\nTotal tests: 120\n     Passed: 119\n     Failed: 1\n', true],
    ['dotnet that passes', 'Passed!  - Failed:     0, Passed:   120, Skipped:     0', false],
    ['ansible', 'web-1 : ok=9  changed=3  unreachable=0  failed=1  skipped=0', true],
    ['ansible that passes', 'web-1 : ok=9  changed=3  unreachable=0  failed=0', false],
    ['Maven', 'Tests run: 812, Failures: 1, Errors: 0, Skipped: 4', true],
    [
      'Playwright',
      `  14 failed\n${'    [chromium] › a.spec.ts:1:5 › a\n'.repeat(14)}  176 passed`,
      true,
    ],
    [
      'Jest that expects errors',
      'Error: boom\n  at f (a.js:1:2)\nTests: 412 passed, 412 total',
      false,
    ],
    [
      'a log that a bracket begins and ends',
      '[INFO] at work\n[ERROR] Failures: 1\n[INFO] [x]',
      true,
    ],
    ['a build that was shortened', '[ 1%] Building a\nmake: *** [all] Error 2\n[Shortened]', true],
    ['a merge', 'Auto-merging a.ts\nCONFLICT (content): Merge conflict in a.ts', true],
    ['an answer of a server', 'HTTP/2 503 \ncontent-type: text/html\n\nlater', true],
    ['a log of a server', '10.0.0.1 "GET / HTTP/1.1" 503', false],
    ['tests before a build', '12 passed\nerror: could not compile', true],
    ['a time and a size', '2 errors.ts\n10:05 errors: none', false],
  ])('tells of the end of %s', (_, text, is) => {
    expect(sumsUpFailure(text)).toBe(is);
    expect(hasFailed(toolResponse('c', 'run', text))).toBe(is);
  });
});

describe('hasFailed', () => {
  it('takes no failure that is shown for one of the call, unless its fields or its exit code say so', () => {
    const shown = 'Error: it is missing';
    for (const tool of ['web_search', 'browserSnapshot', 'mcp__github__get_issue', 'Read']) {
      expect(onlyShows(tool)).toBe(true);
      expect(hasFailed(toolResponse('c', tool, shown))).toBe(false);
      expect(hasFailed(toolResponse('c', tool, shown, 'timed out'))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, { text: shown, isError: true }))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, `${shown}\nexit code: 1`))).toBe(true);
    }
    expect(hasFailed(toolResponse('c', 'Bash', shown))).toBe(true);
  });

  it('reads no failure in what data holds', () => {
    const data = [{ state: 'error: it is missing' }, { state: '1 failed' }];
    for (const given of [JSON.stringify(data), JSON.stringify({ data }, null, 2)]) {
      expect(sumsUpFailure(given)).toBe(true);
      expect(hasFailed(toolResponse('c', 'create_ticket', given))).toBe(false);
    }
  });

  it('believes an exit code, but for the counts of tests in front of a pipe', () => {
    const named = (words: string): unknown[] => [
      { output: words, exit_code: 0 },
      `${words}\nProcess exited with code 0`,
      `<returncode>0</returncode>\n<output>\n${words}\n</output>`,
    ];
    for (const given of named('def f():\n    log("Error: it is missing")')) {
      expect(hasFailed(toolResponse('c', 'bash', given))).toBe(false);
    }
    for (const given of [...named('9 passed, 2 failed'), ...named('FAIL: the total is 3')]) {
      expect(hasFailed(toolResponse('c', 'bash', given))).toBe(true);
    }
  });

  it.each([
    ['an object that APIs describe', { error: { code: 'limit', message: 'At most 75 EUR' } }, true],
    ['a list of GraphQL', { data: null, errors: [{ message: 'no such field' }] }, true],
    ['a list alone', { errors: [{ detail: 'no such field' }] }, true],
    ['a list beside data', { data: { a: 1 }, errors: [{ message: 'partly' }] }, false],
    ['nothing', { error: null, errors: [], id: 7 }, false],
    ['an empty object', { error: {}, id: 7 }, false],
  ])('reads a failure in the fields of a result: %s', (_, result, is) => {
    for (const given of [result, JSON.stringify(result)]) {
      expect(hasFailed(toolResponse('c', 'create_refund', given))).toBe(is);
    }
  });

  it('takes a call that was denied for one that has failed, whatever it is called', () => {
    for (const tool of ['update_ticket', 'get_ticket']) {
      const said = "The user doesn't want to proceed with this tool use.";
      expect(hasFailed(toolResponse('c', tool, said))).toBe(true);
      expect(hasFailed(toolResponse('c', tool, said.padEnd(2_000)))).toBe(false);
    }
  });
});

describe('mayHaveFailed', () => {
  it('is true of a report anywhere, unless the end says that all is well', () => {
    const text = `--- FAIL: TestA (0.00s)\n${'a line of it\n'.repeat(400)}`;
    expect(mayHaveFailed(text)).toBe(true);
    expect(mayHaveFailed(`${text}412 passed`)).toBe(false);
    expect(mayHaveFailed(`${text}411 passed, 1 failed`)).toBe(true);
    expect(mayHaveFailed(text.replace('FAIL', 'SKIP'))).toBe(false);
  });
});
