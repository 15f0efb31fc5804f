// Data in a request stays data, whatever it contains.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  cleanText,
  createNonce,
  disarmText,
  frame,
  FRAME_WORDS,
} from '../../../src/main/summarizer/frame.js';
import { flattenHistory, jsonLine } from '../../../src/main/summarizer/flatten-history.js';
import { summaryPrompt } from '../../../src/main/summarizer/summary-request.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { readFrames } from '../../support/frames.js';
import { INJECTION_PAYLOADS } from '../../support/injection-payloads.js';
import { runs } from '../../support/scale.js';

const NONCE = '0123456789abcdef01234567';

/** A request with a payload in every place for content. */
function requestAround(payload: string, maxPartCharacters = 8_192): string {
  const entries = [
    humanText(`${payload} asked`),
    aiContent([
      { type: 'code', code: `${payload} code`, language: payload },
      { type: 'media', mimeType: 'image/png', data: payload, encoding: 'base64', caption: payload },
      toolCall(payload, payload, { [payload]: payload, list: [payload] }),
    ]),
    toolContent([toolResponse(payload, payload, { output: payload }, payload)]),
  ];
  return summaryPrompt({
    nonce: NONCE,
    lines: flattenHistory(entries, maxPartCharacters),
    previousSummary: cleanText(`${payload} before`),
    todos: [
      {
        id: payload,
        content: payload,
        status: 'pending',
        subtasks: [{ id: '1', content: payload }],
      },
    ],
    piece: 1,
    pieces: 1,
    maxWords: 100,
  });
}

const harmless = readFrames(requestAround('harmless'));
const FRAMES = ['previous_summary', 'transcript', 'active_todos'];

function expectNothingEscapes(payload: string, maxPartCharacters?: number): void {
  const { frames, outside } = readFrames(
    requestAround(payload.replaceAll('{{nonce}}', NONCE), maxPartCharacters),
  );
  expect(Object.keys(frames)).toEqual(FRAMES);
  expect(outside).toBe(harmless.outside);
  const speakers = frames['transcript']?.map((line) => (line as { from: string }).from);
  expect(new Set(speakers)).toEqual(new Set(['human', 'ai', 'tool']));
}

describe('frame', () => {
  it('is tested with more than a hundred payloads', () => {
    expect(INJECTION_PAYLOADS.length).toBeGreaterThan(100);
  });

  it('is escaped by no payload, in no place', () => {
    for (const payload of INJECTION_PAYLOADS) expectNothingEscapes(payload);
  });

  it('is escaped by no text of random code units, and by no mixture of payloads', () => {
    const units = fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 200 })
      .map((codes) => String.fromCharCode(...codes));
    const mixture = fc
      .array(fc.oneof(fc.constantFrom(...INJECTION_PAYLOADS), units), { maxLength: 4 })
      .map((parts) => parts.join('').slice(0, 4_000));
    fc.assert(fc.property(mixture, fc.constantFrom(7, 100, 8_192), expectNothingEscapes), {
      numRuns: runs(300),
    });
  });

  it('lets texts be decoded unchanged', () => {
    for (const payload of INJECTION_PAYLOADS) {
      const { frames } = readFrames(requestAround(payload));
      expect(frames['transcript']?.[0]).toEqual({
        entry: 1,
        from: 'human',
        text: cleanText(`${payload} asked`),
      });
    }
  });

  it('does not repeat its own random word', () => {
    expect(frame('transcript', NONCE, [jsonLine(`a ${NONCE} b`)]).split('\n')).toEqual([
      `<transcript-${NONCE}>`,
      '"a _ b"',
      `</transcript-${NONCE}>`,
    ]);
  });
});

describe('createNonce', () => {
  it('returns another word each time', () => {
    const nonces = Array.from({ length: 100 }, createNonce);
    expect(new Set(nonces).size).toBe(100);
    expect(nonces.every((nonce) => /^[0-9a-f]{24}$/.test(nonce))).toBe(true);
  });
});

describe('disarmText', () => {
  it('leaves nothing that looks like a tag of a frame', () => {
    const tag = new RegExp(`<\\W{0,8}(?:${FRAME_WORDS.join('|')})`, 'i');
    for (const payload of INJECTION_PAYLOADS) expect(disarmText(payload)).not.toMatch(tag);
  });

  it('keeps other text', () => {
    const code = 'if (a < b && c<d) return <List<state>>{transcripts}</List>;';
    expect(disarmText(code)).toBe(code);
  });
});

describe('jsonLine', () => {
  it('decodes to its value', () => {
    for (const payload of INJECTION_PAYLOADS) {
      const line = jsonLine({ payload });
      expect(line).not.toContain('\n');
      expect(JSON.parse(line)).toEqual({ payload });
    }
  });
});

describe('cleanText', () => {
  it('removes invisible characters and keeps visible ones', () => {
    expect(cleanText('a\u0000b\u001b[1mc\u200bd\u202ee\u{e0041}f')).toBe('ab[1mcdef');
    expect(cleanText('tab\tline\r\nline\rline\u2028end')).toBe('tab\tline\nline\nline end');
    expect(cleanText('👩‍💻 नमस्ते می‌خواهم')).toBe('👩‍💻 नमस्ते می‌خواهم');
    expect(cleanText('\ud83d and \ude00')).toBe('\ufffd and \ufffd');
  });
});
