// The outcome of a call, if its result states it; nothing else counts as such a statement.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { toolResponse } from '../../src/shared/content.js';
import { hasFailed, outcomeOf, textOfResult } from '../../src/shared/outcome.js';
import type { CallOutcome } from '../../src/shared/outcome.js';
import { runs } from '../support/scale.js';

const outcome = (result: unknown, error?: string): CallOutcome =>
  outcomeOf(toolResponse('c', 'run', result, error));

describe('outcomeOf', () => {
  it.each([
    'Error: it is missing',
    '2 failed, 9 passed',
    'npm error code ERESOLVE',
    'foo: command not found',
    'Refund refused: the order is too old',
    'TAP version 13\nnot ok 1 - a',
    '412 passed',
    { id: 'ord_9', status: 'failed' },
    { succeeded: 9, failed: 1 },
    { statusCode: 404, message: 'no such order' },
    [{ state: 'error: it is missing' }],
  ])('derives nothing from the output of a program, or from data: %j', (result) => {
    const text = typeof result === 'string' ? result : JSON.stringify(result);
    for (const given of [result, text, { output: text }, [{ type: 'text', text }]]) {
      expect(outcome(given)).toBe('unstated');
      expect(outcome(given, 'it failed')).toBe('failed');
    }
  });

  it('follows a code or a flag whatever else the result says', () => {
    const text = fc.string({ unit: fc.constantFrom('a', ' ', '\n', 'error', 'fail', '{', '"') });
    fc.assert(
      fc.property(text, fc.integer({ min: 0, max: 255 }), (words, code) => {
        const expected = code === 0 ? 'passed' : 'failed';
        expect(outcome({ output: words, exit_code: code })).toBe(expected);
        expect(outcome(JSON.stringify({ stdout: words, metadata: { exitCode: code } }))).toBe(
          expected,
        );
        expect(outcome(`${words}\nProcess exited with code ${code}`)).toBe(expected);
        expect(outcome({ output: words, isError: true })).toBe('failed');
        expect(outcome({ output: words, success: true })).toBe('passed');
      }),
      { numRuns: runs(200) },
    );
  });

  it.each<[CallOutcome, unknown]>([
    ['failed', '(exit 1)'],
    ['failed', 'a line of it\n[exit 1]'],
    ['failed', 'a line of it\nexit status 1'],
    ['failed', 'a line of it\nExit: 1'],
    ['failed', '\u001b[31mexited with 2\u001b[0m'],
    ['failed', '<returncode>1</returncode>\n<output>\n412 passed\n</output>'],
    ['failed', 'Output: x\nError: (none)\nExit Code: 1\nSignal: (none)'],
    ['passed', 'Chunk ID: 1\nProcess exited with code 0\nOutput:\nERROR'],
    [
      'failed',
      [
        { type: 'text', text: 'x' },
        { type: 'text', text: 'Exit code: 2' },
      ],
    ],
    ['failed', { content: [{ type: 'text', text: '{"error":"no"}' }] }],
    ['failed', { error: { code: 'limit', message: 'At most 75 EUR' } }],
    ['failed', { error: true }],
    ['failed', { ok: false, reason: 'no such channel' }],
    ['failed', { data: null, errors: [{ message: 'no such field' }] }],
    ['failed', { errors: [{ detail: 'no such field' }] }],
    ['unstated', { data: { a: 1 }, errors: [{ message: 'partly' }] }],
    ['unstated', { updated: 3, errors: [{ id: 4 }] }],
    ['unstated', { error: null, errors: [], id: 7 }],
    ['unstated', { error: {}, id: 7 }],
    ['failed', [{ query: 'a', result: '', success: false, error: 'no such file' }]],
    ['unstated', [{ query: 'a', result: 'x', success: true }]],
    ['failed', 'Command timed out after 120000ms'],
    ['failed', 'aborted by user after 3.2s'],
    ['running', 'Process running with session ID 7'],
  ])('is %s where the result states it: %j', (expected, result) => {
    expect(outcome(result)).toBe(expected);
    expect(hasFailed(toolResponse('c', 'run', result))).toBe(expected === 'failed');
  });

  it('takes no exit code from shown code, or from the middle of a text', () => {
    for (const code of ['exit 1', '  return 1', '[ -z "$a" ] && exit 1', '|| { exit 3; }']) {
      expect(outcome(`if bad; then\n${code}`)).toBe('unstated');
    }
    expect(outcome('    in use at exit: 72 bytes in 1 blocks\nno leaks')).toBe('unstated');
    const line = 'a plain line of it\n';
    expect(outcome(`${line.repeat(9)}exit code: 1\n${line.repeat(9)}`)).toBe('unstated');
  });

  it('reads success from the first fields of a long or shortened report', () => {
    const report = (success: boolean): string =>
      JSON.stringify({ snapshot: { success: false }, success, results: ['a'.repeat(30_000)] });
    expect(outcome(report(false))).toBe('failed');
    expect(outcome(report(true))).toBe('passed');
    expect(outcome('{\n"success": false,\n[… 40 lines as in run build …]\n]\n}')).toBe('failed');
    // Logs and other outputs that start with an object.
    for (const behind of [report(true), `retried\n${report(true)}`]) {
      const log = `{"success":false}\n${behind}\n`;
      expect(outcome(log)).toBe('unstated');
      expect(outcome(log.replaceAll('\n', '\r\n'))).toBe('unstated');
    }
    expect(outcome(JSON.stringify({ exit_code: 1, stdout: 'a'.repeat(30_000) }))).toBe('failed');
  });

  it('distinguishes a refusal of the user from a failure, but not in a long text that mentions one', () => {
    const said = "The user doesn't want to proceed with this tool use.";
    expect(outcome(said)).toBe('denied');
    expect(outcome('', said)).toBe('denied');
    expect(outcome({ error: 'Blocked by security policy' })).toBe('denied');
    expect(hasFailed(toolResponse('c', 'run', said))).toBe(true);
    expect(outcome(said.padEnd(2_000))).toBe('unstated');
    expect(outcome('', 'open: permission denied')).toBe('failed');
  });

  it.each([
    ' ✓ auth > shows a message when the user denied access 3 ms',
    'a1b2c3d Handle that the user cancelled the dialog',
    'src/pay.ts:12:  throw new Error("The user rejected the request");',
    '     1\tthrow new Error("User denied access");',
    '- dialog "User denied permission"',
    '{"id":"ENG-1","title":"It hangs when the user rejected it"}',
    '[{"user":"U1","text":"The user declined the refund"}]',
    'The page says: "User rejected the request" (4001).',
    'Error: creating the bucket: AccessDenied: blocked by policy no-public',
    ' id | note\n----+------\n  1 | aborted by user',
    'app.log:12:command timed out',
    'The server is running in the background on http://localhost:3000',
  ])('takes no mention for a refusal or another outcome: %s', (text) => {
    expect(outcome(text)).toBe('unstated');
    expect(outcome([{ type: 'text', text }])).toBe('unstated');
    expect(outcome(`${text}\nexit code: 0`)).toBe('passed');
    expect(outcome('', text)).toBe('failed');
  });

  it.each([
    'Error: The user rejected this command.',
    '[execute_command for "rm x"] Result:\nThe user denied this operation.',
    'exec command rejected by user',
    'exec_command failed for `rm x`: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
    'This Bash command contains multiple operations. The following part requires approval: rm x',
  ])('recognizes the refusal %s', (text) => {
    expect(outcome(text)).toBe('denied');
    expect(outcome('', text)).toBe('denied');
  });

  it('is running for an incomplete result, whatever it says', () => {
    const response = { ...toolResponse('c', 'run', 'exit code: 1'), isComplete: false };
    expect(outcomeOf(response)).toBe('running');
  });
});

describe('textOfResult', () => {
  it.each<[string, unknown]>([
    ['as it is', 'as it is'],
    ['printed\nwarned', { stderr: 'warned', stdout: 'printed' }],
    ['printed\nsaid', { message: 'said', code: 1, output: 'printed' }],
    ['in parts', { content: [{ type: 'text', text: 'in parts' }] }],
    ['', { id: 7 }],
    ['', null],
  ])('is %j for the texts of %j, each on its own lines', (text, result) => {
    expect(textOfResult(result)).toBe(text);
  });
});
