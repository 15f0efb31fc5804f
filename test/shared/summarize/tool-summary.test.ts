// The summary in place of a tool's payload: one short line about what the tool did.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { keyOfCall } from '../../../src/shared/call-name.js';

import { toolCall, toolResponse } from '../../../src/shared/content.js';
import type { ToolResponseBlock } from '../../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../../src/shared/density.js';
import type { PlaceholderForm } from '../../../src/shared/density.js';
import { placeholderEnding } from '../../../src/shared/placeholder.js';
import {
  digestResponse,
  summarizeToolResponse,
  summaryLine,
} from '../../../src/shared/summarize/tool-summary.js';
import { payloadCharacters } from '../../../src/shared/tokens/estimate.js';
import { runs } from '../../support/scale.js';

/** The summary of a response to a call with these parameters. */
function summaryOf(parameters: unknown, result: unknown, error?: string): string {
  const call = toolCall('c1', 'tool', parameters);
  return summarizeToolResponse(toolResponse('c1', 'tool', result, error), call);
}

/** The summary of a response without a call. */
function orphanSummary(result: unknown, error?: string): string {
  return summarizeToolResponse(toolResponse('c1', 'tool', result, error), undefined);
}

const LINES_245 = Array.from({ length: 245 }, () => 'line').join('\n');

describe('summarizeToolResponse', () => {
  it('matches the examples of the specification', () => {
    const call = toolCall('c1', 'read_file', { file_path: 'src/index.ts' });
    const response = toolResponse('c1', 'read_file', LINES_245);
    expect(summarizeToolResponse(response, call)).toBe(
      '[read_file: src/index.ts — success, 245 lines]',
    );
  });

  it.each([
    ['its path', { path: 'a.ts', command: 'ls' }, '[tool: a.ts — success, 1 line]'],
    [
      'file_path before path',
      { path: 'b.ts', file_path: 'a.ts' },
      '[tool: a.ts — success, 1 line]',
    ],
    ['an absolute path', { absolute_path: '/w/a.ts' }, '[tool: /w/a.ts — success, 1 line]'],
    ['its command', { note: 'x', command: 'npm test' }, '[tool: npm test — success, 1 line]'],
    ['a command in words', { command: ['ls', '-l'] }, '[tool: ls -l — success, 1 line]'],
    ['its first short text', { n: 7, q: 'find me' }, '[tool: find me — success, 1 line]'],
    ['no long text', { content: 'x'.repeat(121), q: 'me' }, '[tool: me — success, 1 line]'],
    ['no empty path', { path: '', q: 'me' }, '[tool: me — success, 1 line]'],
    ['no blank path', { path: ' \n ', q: 'me' }, '[tool: me — success, 1 line]'],
    ['no path that is not a string', { path: 7, q: 'me' }, '[tool: me — success, 1 line]'],
    ['nothing if all is blank', { path: '\n', q: '\t' }, '[tool — success, 1 line]'],
    ['nothing without parameters', null, '[tool — success, 1 line]'],
    ['nothing of a text', 'a.ts', '[tool — success, 1 line]'],
  ])('names %s of the call', (_, parameters, summary) => {
    expect(summaryOf(parameters, 'done')).toBe(summary);
  });

  it.each([
    ['lines of a text', 'a\nb', '[tool — success, 2 lines]'],
    [
      'the size of a result before it was shortened',
      'a\n[Shortened from 4711 characters: repeated lines]',
      '[tool — success, 4711 chars]',
    ],
    ['lines of an output', { output: 'a\nb\nc' }, '[tool — success, 3 lines]'],
    ['characters of anything else', { a: 1 }, '[tool — success, 7 chars]'],
    ['no success of a command that failed', 'Exit code: 1\na\nb', '[tool — error, 3 lines]'],
    [
      'no success if its last line states a failure',
      'a\n[exited with status 2]\n',
      '[tool — error, 3 lines]',
    ],
    [
      'no success if its fields state a failure',
      '{"output":"a","exit_code":1}',
      '[tool — error, 1 line]',
    ],
    [
      'no success if one of several answers states a failure',
      '[{"query":"a","result":"x","success":true},{"query":"b","result":"","success":false}]',
      '[tool — error, 1 line]',
    ],
    [
      'success of a list about failures',
      '[{"name":"a","success":false},{"name":"b","success":true}]',
      '[tool — success, 1 line]',
    ],
    [
      'success of a file that mentions a failure',
      'a\nexit code: 1\nb',
      '[tool — success, 3 lines]',
    ],
    ['no size of a number', 42, '[tool — success]'],
    ['no size of null', null, '[tool — success]'],
    ['no size of a pruned result', PRUNED_POINTER, '[tool — success]'],
  ])('states %s', (_, result, summary) => {
    expect(summaryOf({}, result)).toBe(summary);
  });

  it('states an error', () => {
    expect(summaryOf({ path: 'a.ts' }, '', 'no such file')).toBe('[tool: a.ts — error, 1 line]');
  });

  it.each([
    ['lines of a text', 'a\nb', '[tool: 2 lines — success]'],
    ['its path', { path: 'a.ts', output: 'x' }, '[tool: a.ts — success]'],
    ['characters of its output', { output: 'x'.repeat(128) }, '[tool: 128 chars — success]'],
    ['nothing of a number', 42, '[tool — success]'],
    ['nothing of a pruned result', PRUNED_POINTER, '[tool — success]'],
  ])('without a call, states %s', (_, result, summary) => {
    expect(orphanSummary(result)).toBe(summary);
  });

  it.each([
    [
      'Codex',
      (code: number) =>
        `Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code ${code}\nOutput:\nat 3\n`,
    ],
    [
      'Gemini CLI',
      (code: number) => ({
        output: `<untrusted_context>\nOutput: at 3\n${code === 0 ? '' : `Exit Code: ${code}\n`}Process Group PGID: 7\n</untrusted_context>`,
      }),
    ],
    [
      'Qwen Code',
      (code: number) =>
        `Command: x\nDirectory: (root)\nOutput: at 3\nError: (none)\nExit Code: ${code}\nSignal: (none)`,
    ],
  ])(
    'states the outcome of a command from the lines that %s writes around its output',
    (_, resultOf) => {
      expect(
        [0, 3].map((code) => /success|error/.exec(summaryOf({}, resultOf(code)))?.[0]),
      ).toEqual(['success', 'error']);
    },
  );

  it('keeps a summary, even if it does not show the outcome', () => {
    const summary = '[tool: a.ts — success, 245 lines]';
    expect(summaryOf({ path: 'b.ts' }, summary, 'failed')).toBe(summary);
    expect(orphanSummary(summary)).toBe(summary);
  });

  it.each([
    ['of another tool', '[other: a.ts — success, 245 lines]'],
    ['of several lines', '[tool: a\nb — success, 245 lines]'],
    ['with control characters', '[tool: a\u0007 — success]'],
    ['that is longer', `[tool: ${'x'.repeat(200)} — success]`],
  ])('summarizes what looks like a summary %s', (_, result) => {
    expect(summaryOf({ path: 'b.ts' }, result)).toMatch(/^\[tool: b\.ts — success, \d lines?\]$/);
  });

  it('cuts a long name, a long path and text around an emoji at whole characters', () => {
    const name = 'n'.repeat(500);
    const summary = summarizeToolResponse(
      toolResponse('c1', name, 'x'),
      toolCall('c1', name, { path: '😀'.repeat(500) }),
    );
    expect(summary).toMatch(/^\[n{63}…: (?:😀){56}… — success, 1 line\]$/u);
    expect(summary).toHaveLength(199);
  });

  it('keeps no half of a character at the end of what it reads', () => {
    const path = `${'\n'.repeat(398)}a😀`;
    expect(summaryOf({ path }, 'x')).toBe('[tool: a — success, 1 line]');
  });

  describe('on anything', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 500, size: 'max' }),
      fc.string({ unit: fc.constantFrom('\n', '\u2028', '\u0000', '😀', 'x', ' ') }),
      fc.constantFrom('', '[tool: a\nb — success]', '[tool: x — error, 1 line]', PRUNED_POINTER),
    );
    const parameters = fc.oneof(
      text,
      fc.constant(null),
      fc.dictionary(fc.constantFrom('path', 'command', 'q'), fc.oneof(text, fc.array(text))),
    );
    const response: fc.Arbitrary<ToolResponseBlock> = fc.record(
      {
        type: fc.constant('tool_response' as const),
        callId: fc.oneof(fc.constant('c1'), text),
        toolName: fc.oneof(fc.constant('tool'), text),
        result: fc.oneof(text, fc.record({ output: text }), fc.jsonValue()),
        error: text,
      },
      { requiredKeys: ['type', 'callId', 'toolName', 'result'] },
    );
    const forms = fc.constantFrom<PlaceholderForm>('pointer', 'informative', 'recallable');
    const cases = fc.tuple(response, fc.option(parameters), forms);

    type Case = readonly [ToolResponseBlock, unknown, PlaceholderForm];

    function summarize([block, values, form]: Case): string {
      const call = values === null ? undefined : toolCall(block.callId, block.toolName, values);
      return summarizeToolResponse(block, call, form);
    }

    it('is one short line of whole characters', () => {
      fc.assert(
        fc.property(cases, (made) => {
          const summary = summarize(made);
          expect(summary.length).toBeLessThanOrEqual(made[2] === 'pointer' ? 200 : 360);
          expect(summary).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}\p{Surrogate}]/u);
        }),
        { numRuns: runs(2_000) },
      );
    });

    it('can be made later, from copies of digests', () => {
      fc.assert(
        fc.property(cases, ([block, values, form]) => {
          const digest = structuredClone(digestResponse(block));
          const call =
            values === null ? undefined : { key: keyOfCall(toolCall('c1', 'tool', values)) };
          const ending = placeholderEnding(block.callId, form);
          expect(summaryLine(digest, call, ending)).toBe(summarize([block, values, form]));
        }),
        { numRuns: runs(1_000) },
      );
    });

    it('is its own summary', () => {
      fc.assert(
        fc.property(cases, forms, ([block, values, form], later) => {
          const result = summarize([block, values, form]);
          expect(summarize([{ ...block, result }, values, later])).toBe(result);
        }),
        { numRuns: runs(2_000) },
      );
    });
  });
});

describe('digestResponse', () => {
  const digestOf = (result: unknown, error?: string): unknown =>
    digestResponse(toolResponse('c1', 'tool', result, error));

  it.each([
    ['a text', 'a\nb', { amount: 2, unit: 'line' }, '2 lines'],
    ['an output', { output: 'a\nb' }, { amount: 2, unit: 'line' }, '3 chars'],
    ['a file', { path: 'a.ts' }, { amount: 15, unit: 'char' }, 'a.ts'],
    ['anything else', { a: 1 }, { amount: 7, unit: 'char' }, undefined],
    ['a number', 42, undefined, undefined],
    ['a pruned result', PRUNED_POINTER, undefined, undefined],
  ])('has size and key of %s', (_, result, size, ownKey) => {
    expect(digestOf(result)).toEqual({
      isSummary: false,
      tool: 'tool',
      isFailed: false,
      size,
      ownKey,
      length: result === PRUNED_POINTER ? undefined : payloadCharacters(result),
    });
  });

  it('has the outcome of an excerpted result, but not the size of the excerpt', () => {
    const passed = digestResponse(
      toolResponse('c', 'run', '[x]\nIt named: a.ts\nIt ended with: ok'),
    );
    expect(passed).toMatchObject({ isFailed: false, size: undefined });
    const failed = digestResponse(toolResponse('c', 'run', '[x]\nIt failed with: FAIL a.ts'));
    expect(failed).toMatchObject({ isFailed: true, size: undefined });
  });

  it('has no outcome for a pointer', () => {
    expect(digestOf(REMOVED_POINTER)).toEqual({ isSummary: true, line: REMOVED_POINTER });
  });

  it('marks failures', () => {
    expect(digestOf('', 'no such file')).toMatchObject({ isFailed: true });
    expect(digestOf('', '')).toMatchObject({ isFailed: false });
    expect(digestOf({ output: 'x', exit_code: 1 })).toMatchObject({ isFailed: true });
    expect(digestOf('3 failed, 144 passed')).toMatchObject({ isFailed: false });
  });

  it('keeps the line of an existing summary', () => {
    const line = '[tool: a.ts — success, 245 lines]';
    expect(digestOf(line)).toEqual({ isSummary: true, line });
  });

  it('is small whatever the payload', () => {
    const huge = 'x'.repeat(100_000);
    for (const result of [huge, { output: huge }, { path: huge }, [huge]]) {
      const digest = digestResponse(toolResponse('c1', huge, result));
      expect(JSON.stringify(digest).length).toBeLessThan(600);
    }
  });
});
