import { describe, expect, it } from 'vitest';
import type { TranscriptFormat } from '../../../src/main/formats/transcript.js';
import { readJson, readLines } from './reading.js';

const UNKNOWN = { type: 'hologram' };
const TEXT = { type: 'text', text: 'Hello.' };
const UNKNOWN_PART = 'content parts of the unknown type "hologram" left out: 1';
const NAMELESS = 'A tool call without a name was left out.';

const DAMAGED_TEXT = 'content parts of the unknown type "text" left out: 1';
const NO_LIST = 'Content that is neither text nor a list was left out.';

const message = (role: string, content: unknown) => ({ role, content });
const ofClaude = (content: unknown) => ({
  type: 'assistant',
  sessionId: 's',
  uuid: 'u',
  message: message('assistant', content),
});
const ofPi = (content: unknown) => ({
  type: 'message',
  id: 'e',
  parentId: null,
  timestamp: '2026-01-01T00:00:01Z',
  message: message('assistant', content),
});
const ofCodex = (payload: object) => ({ type: 'response_item', payload });
const says = (content: unknown) => ofCodex({ type: 'message', role: 'assistant', content });
const trajectory = (record: object) => ({
  trajectory_format: 'mini-swe-agent',
  messages: [record],
});

/** A session with one message that has a text and a part that is not read. */
const SESSIONS: readonly (readonly [TranscriptFormat, unknown, warning: string])[] = [
  ['claude-code', [ofClaude([TEXT, UNKNOWN])], UNKNOWN_PART.replace('parts', 'blocks')],
  ['cline', message('assistant', [TEXT, UNKNOWN]), UNKNOWN_PART.replace('parts', 'blocks')],
  ['codex', [says([TEXT, UNKNOWN])], UNKNOWN_PART],
  ['codex', [says([TEXT, { type: 'text' }])], DAMAGED_TEXT],
  ['codex', [says([TEXT]), says({ text: 'no list' })], NO_LIST],
  [
    'codex',
    [{ type: 'compacted', payload: { replacement_history: ['none', says([TEXT]).payload] } }],
    'items of compactions that are no objects left out: 1',
  ],
  ['codex', [says([TEXT]), ofCodex({ type: 'function_call', call_id: 'c' })], NAMELESS],
  ['pi', [ofPi([TEXT, UNKNOWN])], UNKNOWN_PART],
  ['pi', [ofPi([TEXT, { type: 'text' }])], DAMAGED_TEXT],
  ['pi', [ofPi([TEXT, { type: 'image' }])], DAMAGED_TEXT.replace('text', 'image')],
  ['pi', [ofPi([TEXT]), { ...ofPi({ text: 'no list' }), id: 'f', parentId: 'e' }], NO_LIST],
  ['pi', [ofPi([TEXT, { type: 'toolCall', id: 'c', arguments: {} }])], NAMELESS],
  ['gemini-cli', { role: 'model', parts: [TEXT, { functionCall: { id: 'c' } }] }, NAMELESS],
  [
    'gemini-cli',
    { type: 'gemini', content: 'Hello.', toolCalls: [{ id: 'c', status: 'executing' }] },
    NAMELESS,
  ],
  [
    'gemini-cli',
    { type: 'gemini', content: [TEXT, UNKNOWN] },
    'message parts that are neither text nor media left out: 1',
  ],
  ['mini-swe-agent', trajectory(message('assistant', [TEXT, UNKNOWN])), UNKNOWN_PART],
  ['swe-agent', { history: [message('assistant', [TEXT, UNKNOWN])] }, UNKNOWN_PART],
  ['ai-sdk', message('assistant', [TEXT, UNKNOWN]), UNKNOWN_PART],
  ['ai-sdk', message('assistant', [TEXT, { type: 'text' }]), DAMAGED_TEXT],
  ['ai-sdk', { role: 'assistant', parts: [TEXT, { ...UNKNOWN, toolCallId: 3 }] }, UNKNOWN_PART],
  ['openai-chat', message('assistant', [TEXT, UNKNOWN]), UNKNOWN_PART],
  ['openai-chat', { ...message('assistant', 'Hello.'), tool_calls: [{ id: 'c' }] }, NAMELESS],
];

describe('a part that is not read', () => {
  it.each(SESSIONS)('is reported, and the rest of the message is read: %s %j', async (...given) => {
    const [format, session, warning] = given;
    const isLines = format === 'claude-code' || format === 'codex' || format === 'pi';
    const hasList = 'messages' in Object(session) || 'history' in Object(session);

    const { entries, warnings } = isLines
      ? await readLines(session as readonly unknown[], format)
      : await readJson(hasList ? session : [session], format);

    expect(entries.map(({ blocks }) => blocks)).toEqual([[TEXT]]);
    expect(warnings.map((each) => each.message)).toEqual([warning]);
  });

  it('is reported in reasoning, whose texts are read', async () => {
    const summary = [{ type: 'summary_text', text: 'Hm.' }, UNKNOWN];
    const { entries, warnings } = await readLines(
      [ofCodex({ type: 'reasoning', summary }), says([TEXT])],
      'codex',
    );
    expect(entries[0]?.blocks).toEqual([{ type: 'thinking', thought: 'Hm.' }, TEXT]);
    expect(warnings.map((each) => each.message)).toEqual([UNKNOWN_PART]);
  });
});
