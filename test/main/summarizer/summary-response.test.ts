// What an answer must be to be a summary.

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
    ['what is framed', FRAMED, 'the goal'],
    ['what is framed, without what is around it', `Sure!\n${FRAMED}\nAnything else?`, 'the goal'],
    ['a frame in other letters', '<State_Snapshot>a</STATE_SNAPSHOT>', 'a'],
    ['a frame with attributes', '<state_snapshot version="1">a</state_snapshot >', 'a'],
    [
      'all up to the last end of a frame',
      '<state_snapshot>a</state_snapshot>b</state_snapshot>',
      'a</state_snapshot>b',
    ],
    [
      'what follows reasoning',
      `<think>I write <state_snapshot>not this</state_snapshot></think>${FRAMED}`,
      'the goal',
    ],
    ['text without control characters', '<state_snapshot>a\u001b\u202eb</state_snapshot>', 'ab'],
  ])('takes %s', (_, text, summary) => {
    expect(readSummary(answer(text), true)).toEqual({ ok: true, summary });
  });

  it('takes unframed text where no frame is asked for', () => {
    expect(readSummary(answer(' plain '), false)).toEqual({ ok: true, summary: 'plain' });
    expect(readSummary(answer(`so: ${FRAMED}`), false)).toEqual({ ok: true, summary: 'the goal' });
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
    ['no-snapshot', answer('I cannot help with that.')],
    ['no-snapshot', answer('<state_snapshot>never closed')],
    ['no-snapshot', answer('</state_snapshot>the wrong way round<state_snapshot>')],
  ])('rejects as %s: %o', (reason, response) => {
    expect(readSummary(response, true)).toMatchObject({ ok: false, reason });
  });

  it('says nothing of the answer in the message', () => {
    const read = readSummary(answer('secret'), true);
    expect(JSON.stringify(read)).not.toContain('secret');
  });
});
