import { describe, expect, it } from 'vitest';
import { aiContent, toolCall, toolResponse } from '../../../src/shared/content.js';
import { bare, readLines } from './reading.js';

let count = 0;

function record(type: 'user' | 'assistant', message: object, more: object = {}): object {
  count += 1;
  return {
    type,
    uuid: `uuid-${count}`,
    sessionId: 's',
    message: { role: type, ...message },
    ...more,
  };
}

function user(content: unknown, more?: object): object {
  return record('user', { content }, more);
}

function model(id: string, ...content: object[]): object {
  return record('assistant', { id, content });
}

function use(id: string, name = 'Read', input: unknown = {}): object {
  return { type: 'tool_use', id, name, input };
}

function result(id: string, content: unknown = 'ok', more: object = {}): object {
  return { type: 'tool_result', tool_use_id: id, content, ...more };
}

const human = (text: string) => ({ speaker: 'human', blocks: [{ type: 'text', text }] });
const calls = (...ids: string[]) => aiContent(ids.map((id) => toolCall(id, 'Read', {})));
const answers = (...ids: string[]) => ({
  speaker: 'tool',
  blocks: ids.map((id) => toolResponse(id, 'Read', 'ok')),
});

async function entriesOf(...records: object[]) {
  const { entries, warnings } = await readLines(records, 'claude-code');
  expect(warnings).toEqual([]);
  return bare(entries);
}

describe('ClaudeCodeReader', () => {
  it('joins the lines of one model message and their results', async () => {
    const entries = await entriesOf(
      user('go'),
      model('m1', { type: 'thinking', thinking: 'hm', signature: 'sig' }),
      model('m1', { type: 'text', text: 'reading' }),
      model('m1', use('a')),
      model('m1', use('b')),
      user([result('a')]),
      user([result('b')]),
      model('m2', { type: 'text', text: 'done' }),
    );
    expect(entries).toEqual([
      human('go'),
      aiContent([
        { type: 'thinking', thought: 'hm', signature: 'sig' },
        { type: 'text', text: 'reading' },
        toolCall('a', 'Read', {}),
        toolCall('b', 'Read', {}),
      ]),
      answers('a', 'b'),
      aiContent('done'),
    ]);
  });

  it('puts a result that arrived between two parts behind the whole message', async () => {
    const entries = await entriesOf(
      model('m1', use('a')),
      user([result('a')]),
      model('m1', use('b')),
      user([result('b')]),
    );
    expect(entries).toEqual([calls('a', 'b'), answers('a', 'b')]);
  });

  it('puts what a user said while a tool ran behind the result', async () => {
    const entries = await entriesOf(model('m1', use('a')), user('faster'), user([result('a')]));
    expect(entries).toEqual([calls('a'), answers('a'), human('faster')]);
  });

  it('keeps a result that comes after the next model message where it was recorded', async () => {
    const entries = await entriesOf(
      model('m1', use('a')),
      model('m2', { type: 'text', text: 'meanwhile' }),
      user([result('a')]),
    );
    expect(entries).toEqual([calls('a'), aiContent('meanwhile'), answers('a')]);
  });

  it('leaves an unanswered call open', async () => {
    expect(await entriesOf(model('m1', use('a')), user('stop'))).toEqual([
      calls('a'),
      human('stop'),
    ]);
  });

  it('makes two entries of the text and the result of one user record', async () => {
    const entries = await entriesOf(
      model('m1', use('a')),
      user([{ type: 'text', text: 'and now' }, result('a')]),
    );
    expect(entries).toEqual([calls('a'), answers('a'), human('and now')]);
  });

  it('reads a record repeated under its uuid once', async () => {
    const repeated = user('go');
    expect(await entriesOf(repeated, repeated)).toEqual([human('go')]);
  });

  it('keeps the output of a failed tool as result and names its first line as error', async () => {
    const entries = await entriesOf(
      model('m1', use('a', 'Bash', { command: 'make' })),
      user([result('a', 'Exit code 2\nno rule', { is_error: true })]),
    );
    expect(entries[1]?.blocks).toEqual([
      toolResponse('a', 'Bash', 'Exit code 2\nno rule', 'Exit code 2'),
    ]);
  });

  it('joins the texts of a result, with a note in place of an image', async () => {
    const image = {
      type: 'image',
      source: { type: 'base64', media_type: 'image/png', data: 'AA' },
    };
    const text = { type: 'text', text: 'one' };
    const entries = await entriesOf(
      model('m1', use('a'), use('b')),
      user([result('a', [text, { type: 'text', text: 'two' }]), result('b', [text, image])]),
    );
    expect(entries[1]?.blocks).toEqual([
      toolResponse('a', 'Read', 'one\ntwo'),
      { ...toolResponse('b', 'Read', 'one\n[image]'), mediaTokens: 1_600 },
    ]);
  });

  it('reads redacted thinking and images', async () => {
    const entries = await entriesOf(
      user([{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA' } }]),
      model('m1', { type: 'redacted_thinking', data: 'xyz' }, { type: 'text', text: 'nice' }),
    );
    expect(entries).toEqual([
      {
        speaker: 'human',
        blocks: [{ type: 'media', mimeType: 'image/png', data: 'AA', encoding: 'base64' }],
      },
      aiContent([
        { type: 'thinking', thought: '', encryptedContent: 'xyz' },
        { type: 'text', text: 'nice' },
      ]),
    ]);
  });

  it('records time, model and cost', async () => {
    const usage = { output_tokens: 9 };
    const { entries, workspaceRoot } = await readLines([
      user('go', { timestamp: '2026-01-01T00:00:00.000Z', cwd: '/repo', uuid: 'u', isMeta: true }),
      record(
        'assistant',
        {
          id: 'm1',
          model: 'opus',
          usage: { output_tokens: 1 },
          content: [{ type: 'text', text: 'a' }],
        },
        { timestamp: '2026-01-01T00:00:01.000Z' },
      ),
      record('assistant', {
        id: 'm1',
        model: 'opus',
        usage,
        content: [{ type: 'text', text: 'b' }],
      }),
      user('summary', { uuid: 'v', isCompactSummary: true }),
      record('assistant', {
        id: 'm2',
        model: '<synthetic>',
        content: [{ type: 'text', text: 'API Error' }],
      }),
    ]);
    expect(workspaceRoot).toBe('/repo');
    expect(entries.map(({ metadata }) => metadata)).toEqual([
      { timestamp: 1767225600000, id: 'u', synthetic: true },
      { timestamp: 1767225601000, id: 'm1', model: 'opus', usage },
      { id: 'v', isSummary: true },
      { id: 'm2', model: '<synthetic>', synthetic: true },
    ]);
  });

  it('omits the records of subagents from a main session, and counts them', async () => {
    const side = { isSidechain: true };
    const { entries, warnings } = await readLines([
      user('warm up', side),
      user('go'),
      user('sub', side),
    ]);
    expect(bare(entries)).toEqual([human('go')]);
    expect(warnings).toEqual([{ message: 'records of subagents (isSidechain) left out: 2' }]);
  });

  it("reads a subagent's own session", async () => {
    const { entries } = await readLines([user('sub', { isSidechain: true })]);
    expect(bare(entries)).toEqual([human('sub')]);
  });

  it('skips bookkeeping, and reports unknown record and block types once with a count', async () => {
    const { entries, warnings } = await readLines([
      { type: 'file-history-snapshot', messageId: 'x' },
      { type: 'summary', leafUuid: 'x' },
      { type: 'system', uuid: 'x', subtype: 'compact_boundary' },
      { type: 'constructor', uuid: 'x' },
      { type: 'constructor', uuid: 'y' },
      user([{ type: 'hologram' }, { type: 'text', text: 'go' }]),
    ]);
    expect(bare(entries)).toEqual([human('go')]);
    expect(warnings).toEqual([
      { message: 'records of the unknown type "constructor" left out: 2' },
      { message: 'content blocks of the unknown type "hologram" left out: 1' },
    ]);
  });

  it('omits what cannot be read, and reports its lines', async () => {
    const { entries, warnings } = await readLines(
      [
        null,
        { type: 'user', uuid: 'x' },
        user(7),
        user([result('nobody')]),
        model('m1', { type: 'tool_use', id: 'a' }),
        user([use('a')]),
      ],
      'claude-code',
    );
    expect(entries).toEqual([]);
    expect(warnings).toEqual([
      { line: 1, message: 'A record that is no object was left out.' },
      { line: 2, message: 'A user record without a message was left out.' },
      { line: 3, message: 'A message whose content is neither text nor a list was left out.' },
      {
        line: 5,
        message: 'A tool_use block of the assistant message is damaged and was left out.',
      },
      { line: 6, message: 'A tool_use block of the user message is damaged and was left out.' },
      // Its call could still have come later.
      { line: 4, message: 'A tool response that answers no open call (nobody) was left out.' },
    ]);
  });
});

describe('a result in front of its call', () => {
  it('answers the call, also with a part of another message in between', async () => {
    const { entries, warnings } = await readLines([
      user([result('b')]),
      model('m', use('a')),
      user([result('a')]),
      model('n', use('b')),
    ]);
    expect(warnings).toEqual([]);
    expect(bare(entries)).toEqual([calls('a'), answers('a'), calls('b'), answers('b')]);
  });

  it('is reported when its call never comes, and when another result has answered the call', async () => {
    const { entries, warnings } = await readLines([
      user([result('b'), result('z')]),
      model('m', use('b')),
      user([result('b')]),
    ]);
    expect(bare(entries)).toEqual([calls('b'), answers('b')]);
    expect(warnings.map(({ line, message }) => [line, message])).toEqual([
      [3, 'A tool response that answers no open call (b) was left out.'],
      [1, 'A tool response that answers no open call (z) was left out.'],
    ]);
  });
});

describe('attachment', () => {
  const attachment = (fields: object) => ({
    type: 'attachment',
    sessionId: 's',
    attachment: fields,
  });

  it('is a message of the user if it was queued, and is only counted otherwise', async () => {
    const { entries, warnings } = await readLines([
      model('m', use('a')),
      attachment({ type: 'queued_command', prompt: 'stop that' }),
      attachment({ type: 'queued_command', prompt: [{ type: 'text', text: 'and this' }] }),
      { ...attachment({ type: 'queued_command', prompt: 'to a subagent' }), isSidechain: true },
      attachment({ type: 'todo_reminder', content: [] }),
      user([result('a')]),
    ]);
    expect(bare(entries)).toEqual([
      calls('a'),
      answers('a'),
      human('stop that'),
      human('and this'),
    ]);
    expect(warnings).toEqual([
      { message: 'attachments of the type "queued_command" left out: 1' },
      { message: 'attachments of the type "todo_reminder" left out: 1' },
    ]);
  });
});

describe('a compaction of the agent', () => {
  const boundary = { type: 'system', subtype: 'compact_boundary', uuid: 'c', sessionId: 's' };

  it('starts a context, once for its boundary and its summary', async () => {
    const { entries, contextStarts } = await readLines([
      user('one'),
      model('m', use('a')),
      boundary,
      user('what was', { isCompactSummary: true }),
      user('two'),
      user('what was then', { isCompactSummary: true }),
    ]);
    expect(contextStarts).toEqual([2, 4]);
    expect(entries[2]).toMatchObject({ ...human('what was'), metadata: { isSummary: true } });
  });

  it('omits a result whose call was before it, and starts no context at the beginning', async () => {
    const { entries, contextStarts, warnings } = await readLines([
      boundary,
      model('m', use('a')),
      boundary,
      user([result('a')]),
      user('two'),
    ]);
    expect(bare(entries)).toEqual([calls('a'), human('two')]);
    expect([contextStarts, warnings.length]).toEqual([[1], 1]);
  });
});

describe('a session of Claude Code that has branches', () => {
  const under = (parentUuid: string | null, uuid: string, of: object, more: object = {}) => ({
    ...{ ...of, parentUuid, uuid },
    ...more,
  });
  const say = (text: string) => model(`m-${text}`, { type: 'text', text });
  const LEFT = (count: number) => [
    { message: `messages that the session went back from, left out: ${count}` },
  ];

  it('is read without abandoned branches, and with all parallel calls', async () => {
    const { entries, warnings } = await readLines([
      under(null, '1', user('one')),
      under('1', '2', model('m', use('a'))),
      under('2', '3', model('m', use('b'))),
      under('2', '4', user([result('a')])),
      under('3', '5', user([result('b')])),
      {
        ...{ type: 'attachment', uuid: '5a', parentUuid: '4' },
        attachment: { type: 'queued_command', prompt: 'and' },
      },
      { type: 'system', uuid: '6', parentUuid: '5', sessionId: 's' },
      under('6', '7', user('wrong')),
      { type: 'attachment', uuid: '7a', parentUuid: '7', attachment: { type: 'date' } },
      under('7a', '8', say('so it is')),
      under('6', '9', user('right')),
      under('9', '10', say('yes')),
    ]);
    expect(bare(entries)).toEqual([
      human('one'),
      calls('a', 'b'),
      answers('a', 'b'),
      human('and'),
      human('right'),
      aiContent('yes'),
    ]);
    expect(warnings).toEqual([
      { message: 'attachments of the type "date" left out: 1' },
      ...LEFT(2),
    ]);
  });

  it('ends with the newest message, not with the last line', async () => {
    const at = (seconds: number) => ({ timestamp: new Date(seconds * 1_000).toISOString() });
    const { entries } = await readLines([
      under(null, '1', user('one'), at(1)),
      under('1', '2', say('two'), at(2)),
      under('2', '3', user('three'), at(4)),
      under('2', '4', user('interrupted'), at(3)),
    ]);
    expect(bare(entries)).toEqual([human('one'), aiContent('two'), human('three')]);
  });

  it('is read once if it was copied to be resumed', async () => {
    const first = [under(null, '1', user('one')), under('1', '2', say('two'))];
    const copied = [under(null, '3', user('one')), under('3', '4', say('two'))];
    const { entries, contextStarts, warnings } = await readLines([
      ...first,
      ...copied,
      under('4', '5', user('three')),
    ]);
    expect(bare(entries)).toEqual([human('one'), aiContent('two'), human('three')]);
    expect([contextStarts, warnings]).toEqual([[], LEFT(2)]);
  });

  it('starts a context at another session in the same file', async () => {
    const { entries, contextStarts, warnings } = await readLines([
      under(null, '1', user('one')),
      under(null, '2', user('two'), { sessionId: 'other' }),
    ]);
    expect([bare(entries), contextStarts, warnings]).toEqual([
      [human('one'), human('two')],
      [1],
      [],
    ]);
  });

  it('is read whole if a record is missing, or if records form a cycle', async () => {
    const { entries, warnings } = await readLines([
      under('3', '1', user('one')),
      under('1', '2', say('two')),
      under('lost', '3', user('three')),
    ]);
    expect(bare(entries)).toEqual([human('one'), aiContent('two'), human('three')]);
    expect(warnings).toEqual([]);
  });

  it.each([
    ['a list', { preservedMessages: { anchorUuid: '7', uuids: ['3', '4', '5'] } }],
    ['its ends', { preservedSegment: { anchorUuid: '7', headUuid: '3', tailUuid: '5' } }],
  ])('keeps what its compaction kept, given by %s', async (_, compactMetadata) => {
    const subtype = 'compact_boundary';
    const { entries, contextStarts, warnings } = await readLines([
      under(null, '1', user('one')),
      under('1', '2', say('two')),
      under('2', '3', user('three')),
      under('3', '4', model('m', use('a'))),
      under('4', '5', user([result('a')])),
      { type: 'system', subtype, uuid: '6', parentUuid: null, sessionId: 's', compactMetadata },
      under('6', '7', user('in short'), { isCompactSummary: true }),
      under('5', '8', say('four')),
    ]);
    expect([contextStarts, warnings]).toEqual([[5], []]);
    expect(bare(entries.slice(5))).toEqual([
      human('in short'),
      human('three'),
      aiContent([toolCall('a#2', 'Read', {})]),
      { speaker: 'tool', blocks: [toolResponse('a#2', 'Read', 'ok')] },
      aiContent('four'),
    ]);
    const isKept = entries.map(({ metadata }) => metadata?.isKept === true);
    expect(isKept.slice(5)).toEqual([false, true, true, false, false]);
  });
});
