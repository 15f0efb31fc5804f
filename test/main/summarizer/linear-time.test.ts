// One megabyte of hostile text takes milliseconds, wherever text is scanned.

import { describe, expect, it } from 'vitest';

import { cleanLine, cleanText, disarmText } from '../../../src/main/summarizer/frame.js';
import { flattenHistory } from '../../../src/main/summarizer/flatten-history.js';
import { previousSummary, summaryEntries } from '../../../src/main/summarizer/summary-note.js';
import { readSummary } from '../../../src/main/summarizer/summary-response.js';
import { humanText } from '../../../src/shared/content.js';
import { busyMs } from '../../support/busy-time.js';

const MEGABYTE = 1_048_576;

const HOSTILE = [
  '<state_snapshot>',
  '</state_snapshot>',
  '<state_snapshot ',
  '<think>',
  '<',
  '< / ',
  '<\\n\\n\\n\\n',
  '<\\u0000',
  ' ',
  '\n',
  '\u200b',
  '\\',
  '"',
  '\ud83d',
  'none ',
  '<a',
  '\r',
].map((unit) => unit.repeat(Math.ceil(MEGABYTE / unit.length)));

/** Far above linear time and far below quadratic time (minutes). */
const MAX_MS_PER_MEGABYTE = 1_500;

describe.each<[string, (text: string) => unknown]>([
  ['cleanText', cleanText],
  ['cleanLine', (text) => cleanLine(text, MEGABYTE)],
  ['disarmText', disarmText],
  ['flattenHistory', (text) => flattenHistory([humanText(text)], 8_192)],
  ['readSummary', (text) => readSummary({ text, finishReason: 'stop' })],
  ['summaryEntries', (text) => summaryEntries(text, text)],
  ['previousSummary', (text) => previousSummary([humanText(text, { isSummary: true })])],
])('%s', (_, look) => {
  it('takes linear time', () => {
    for (const text of HOSTILE) {
      const start = process.cpuUsage();
      look(text);
      const elapsedMs = busyMs(start);
      expect(elapsedMs, JSON.stringify(text.slice(0, 20))).toBeLessThan(MAX_MS_PER_MEGABYTE);
    }
  });
});
