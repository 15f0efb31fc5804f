// What makes an answer a valid summary.

import { describe, expect, it } from 'vitest';

import { readSummary } from '../../../src/main/summarizer/summary-response.js';
import type { SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';

const answer = (text: string, rest: Partial<SummarizerResponse> = {}): SummarizerResponse => ({
  text,
  finishReason: 'stop',
  ...rest,
});
const FRAMED = '<state_snapshot>the goal</state_snapshot>';

describe('readSummary', () => {
  it.each([
    ['framed text', FRAMED, 'the goal'],
    ['framed text, without what is around it', `Sure!\n${FRAMED}\nAnything else?`, 'the goal'],
    ['a frame in upper case', '<State_Snapshot>a</STATE_SNAPSHOT>', 'a'],
    ['a frame with attributes', '<state_snapshot version="1">a</state_snapshot >', 'a'],
    [
      'everything up to the last end of a frame',
      '<state_snapshot>a</state_snapshot>b</state_snapshot>',
      'a</state_snapshot>b',
    ],
    [
      'text behind reasoning',
      `<think>I write <state_snapshot>not this</state_snapshot></think>${FRAMED}`,
      'the goal',
    ],
    ['text without control characters', '<state_snapshot>a\u001b\u202eb</state_snapshot>', 'ab'],
  ])('accepts %s', (_, text, summary) => {
    expect(readSummary(answer(text))).toEqual({ ok: true, summary, isFramed: true });
  });

  it.each([
    ['plain words', ' plain ', 'plain'],
    ['a frame that never ends', '<state_snapshot>never closed', '<state_snapshot>never closed'],
    [
      'a reversed frame',
      '</state_snapshot>a<state_snapshot>',
      '</state_snapshot>a<state_snapshot>',
    ],
  ])('accepts %s, and marks it as unframed', (_, text, summary) => {
    expect(readSummary(answer(text))).toEqual({ ok: true, summary, isFramed: false });
  });

  it('accepts an answer whose tool calls are null, as some servers send it', () => {
    const toolCalls = null as unknown as [];
    expect(readSummary(answer(FRAMED, { toolCalls }))).toMatchObject({ ok: true });
  });

  it.each<[string, SummarizerResponse]>([
    ['empty', answer('')],
    ['empty', answer(' \n\t')],
    ['empty', answer('<state_snapshot> </state_snapshot>')],
    ['empty', answer('<state_snapshot><overall_goal>None.</overall_goal></state_snapshot>')],
    ['empty', answer(undefined as unknown as string)],
    ['cut-off', answer(FRAMED, { finishReason: 'length' })],
    ['tool-call', answer(FRAMED, { finishReason: 'tool-calls' })],
    ['tool-call', answer(FRAMED, { toolCalls: [{ name: 'read_file' }] })],
    ['withheld', answer(FRAMED, { finishReason: 'content-filter' })],
    ['withheld', answer(FRAMED, { finishReason: 'error' })],
  ])('rejects as %s: %o', (reason, response) => {
    expect(readSummary(response)).toMatchObject({ ok: false, reason });
  });

  it('quotes nothing of the answer in the message', () => {
    const read = readSummary(answer('secret', { finishReason: 'length' }));
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});
