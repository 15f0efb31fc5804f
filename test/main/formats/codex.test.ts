import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { bare, readJson, readLines } from './reading.js';

const item = (payload: object, timestamp?: string) => ({
  type: 'response_item',
  payload,
  ...(timestamp !== undefined && { timestamp }),
});
const said = (role: string, text: string) =>
  item({
    type: 'message',
    role,
    content: [{ type: role === 'assistant' ? 'output_text' : 'input_text', text }],
  });
const call = (call_id: string, args: string, name = 'exec_command') =>
  item({ type: 'function_call', name, arguments: args, call_id });
const output = (call_id: string, text: unknown, more: object = {}) =>
  item({ type: 'function_call_output', call_id, output: text, ...more });
const patch = (call_id: string) =>
  item({ type: 'custom_tool_call', name: 'apply_patch', input: '*** Begin Patch', call_id });
const patched = (call_id: string, text: string) =>
  item({ type: 'custom_tool_call_output', call_id, output: text });
const human = (text: string) => ({ speaker: 'human', blocks: [{ type: 'text', text }] });

async function entriesOf(...records: object[]) {
  const { entries, warnings } = await readLines(records, 'codex');
  expect(warnings).toEqual([]);
  return bare(entries);
}

describe('CodexReader', () => {
  it('joins the items of one model message and the outputs of its calls', async () => {
    const entries = await entriesOf(
      said('user', 'go'),
      item({
        type: 'reasoning',
        summary: [{ type: 'summary_text', text: 'hm' }],
        encrypted_content: 'e',
      }),
      said('assistant', 'looking'),
      call('a', '{"cmd":"ls"}'),
      call('b', 'ls -l'),
      output('a', 'x'),
      output('b', [{ type: 'input_text', text: 'y' }]),
      said('assistant', 'done'),
    );
    expect(entries).toEqual([
      human('go'),
      aiContent([
        { type: 'thinking', thought: 'hm', encryptedContent: 'e' },
        { type: 'text', text: 'looking' },
        toolCall('a', 'exec_command', { cmd: 'ls' }),
        toolCall('b', 'exec_command', 'ls -l'),
      ]),
      toolContent([toolResponse('a', 'exec_command', 'x'), toolResponse('b', 'exec_command', 'y')]),
      aiContent('done'),
    ]);
  });

  it('marks a failed patch by its output or its event, and no failed command', async () => {
    const entries = await entriesOf(
      patch('a'),
      patched('a', 'Exit code: 1\nOutput:\nno match'),
      patch('b'),
      { type: 'event_msg', payload: { type: 'patch_apply_end', call_id: 'b', success: false } },
      patched('b', 'sorry'),
      patch('c'),
      patched('c', 'Exit code: 0\nSuccess'),
      patch('d'),
      patched('d', '{"output":"","metadata":{"exit_code":1}}'),
      call('e', '{}'),
      output('e', 'Process exited with code 1'),
    );
    const errors = entries.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'tool_response' ? [block.error] : [])),
    );
    expect(errors).toEqual([
      'Exit code: 1',
      'sorry',
      undefined,
      '{"output":"","metadata":{"exit_code":1}}',
      undefined,
    ]);
    expect(entries[0]).toEqual(
      aiContent([toolCall('a', 'apply_patch', { input: '*** Begin Patch' })]),
    );
  });

  it('marks an output that says success: false', async () => {
    const entries = await entriesOf(
      call('a', ''),
      output('a', { content: 'broken', success: false }),
    );
    expect(entries[1]).toEqual(
      toolContent([toolResponse('a', 'exec_command', 'broken', 'broken')]),
    );
  });

  it('reads shell calls, and answers a web search, whose output is not recorded', async () => {
    const action = { type: 'exec', command: ['ls'] };
    const search = { type: 'search', query: 'q' };
    const entries = await entriesOf(
      item({ type: 'local_shell_call', call_id: 'a', action }),
      output('a', 'x'),
      item({ type: 'web_search_call', id: 'w', status: 'completed', action: search }),
    );
    expect(entries).toEqual([
      aiContent([toolCall('a', 'local_shell', action)]),
      toolContent([toolResponse('a', 'local_shell', 'x')]),
      aiContent([toolCall('w', 'web_search', search)]),
      toolContent([toolResponse('w', 'web_search', { status: 'completed' })]),
    ]);
  });

  it('tells searches without an id apart, also within one document', async () => {
    const search = { type: 'web_search_call', action: { query: 'q' } };
    const { entries, warnings } = await readJson(
      [said('user', 'go').payload, search, search],
      'codex',
    );
    expect(warnings).toEqual([]);
    expect(entries.slice(1).map(({ blocks }) => blocks.length)).toEqual([2, 2]);
  });

  it('records time, model, usage, instructions and the working directory', async () => {
    const usage = { output_tokens: 4 };
    const { entries, workspaceRoot, format } = await readLines([
      { type: 'session_meta', payload: { cwd: '/repo' } },
      { type: 'turn_context', payload: { cwd: '/elsewhere', model: 'gpt-5' } },
      said('developer', 'be brief'),
      item(
        {
          type: 'message',
          role: 'assistant',
          id: 'm',
          content: [{ type: 'output_text', text: 'ok' }],
        },
        '2026-01-01T00:00:00Z',
      ),
      { type: 'event_msg', payload: { type: 'token_count', info: { last_token_usage: usage } } },
      { type: 'compacted', payload: { message: 'in short' } },
    ]);
    expect({ format, workspaceRoot }).toEqual({ format: 'codex', workspaceRoot: '/repo' });
    expect(entries).toEqual([
      { ...human('be brief'), metadata: { synthetic: true } },
      aiContent('ok', { timestamp: 1767225600000, id: 'm', model: 'gpt-5', usage }),
      { ...human('in short'), metadata: { isSummary: true } },
    ]);
  });

  it('reads the bare items of older files', async () => {
    const { entries, format } = await readLines([
      { id: 'x', timestamp: 't', instructions: null },
      { record_type: 'state' },
      { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
    ]);
    expect({ format, entries }).toEqual({ format: 'codex', entries: [human('go')] });
  });

  it('omits reasoning that nothing follows, and counts it', async () => {
    const { entries, warnings } = await readLines([
      item({ type: 'reasoning', summary: [], encrypted_content: 'e' }),
      said('user', 'stop'),
    ]);
    expect(bare(entries)).toEqual([human('stop')]);
    expect(warnings).toEqual([{ message: 'model messages that hold only reasoning, left out: 1' }]);
  });

  it('omits what cannot be read, and reports its lines', async () => {
    const { entries, warnings } = await readLines(
      [
        4,
        { type: 'response_item', payload: 'x' },
        item({ type: 'message', role: 'user', content: 9 }),
        item({ type: 'message', role: 'user' }),
        item({ type: 'function_call', call_id: 'a' }),
        item({ type: 'function_call_output' }),
        output('b', 'x'),
        item({ type: '__proto__' }),
        { type: 'toString', payload: {} },
      ],
      'codex',
    );
    expect(entries).toEqual([]);
    expect(warnings).toEqual([
      { line: 1, message: 'A record that is no object was left out.' },
      { line: 2, message: 'A response_item record without a payload was left out.' },
      { line: 3, message: 'Content that is neither text nor a list was left out.' },
      { line: 4, message: 'A message without a role or content was left out.' },
      { line: 5, message: 'A tool call without a name was left out.' },
      { line: 6, message: 'A tool output without a call_id was left out.' },
      { line: 7, message: 'A tool response that answers no open call (b) was left out.' },
      { message: 'response items of the unknown type "__proto__" left out: 1' },
      { message: 'records of the unknown type "toString" left out: 1' },
    ]);
  });
});

describe('a compaction of Codex', () => {
  it('starts a context with the replacement history', async () => {
    const kept = [said('user', 'one'), said('user', 'in short')].map(({ payload }) => payload);
    const { entries, contextStarts } = await readLines([
      said('user', 'one'),
      call('a', '{}'),
      output('a', 'ok'),
      { type: 'compacted', payload: { message: 'kept too', replacement_history: kept } },
      said('assistant', 'two'),
      { type: 'compacted', payload: { message: 'in short again' } },
      said('assistant', 'three'),
    ]);
    expect(contextStarts).toEqual([3, 6]);
    expect(bare(entries.slice(3))).toEqual([
      human('one'),
      human('in short'),
      ...bare([aiContent('two')]),
      human('in short again'),
      ...bare([aiContent('three')]),
    ]);
  });

  it('keeps a message that it kept apart from the one that follows', async () => {
    const kept = [said('user', 'one'), said('assistant', 'two')].map(({ payload }) => payload);
    const { entries, warnings } = await readLines([
      said('user', 'one'),
      said('assistant', 'two'),
      { type: 'token_usage_record', payload: { usage: {} } },
      { type: 'compacted', payload: { message: '', replacement_history: kept } },
      said('assistant', 'three'),
    ]);
    expect(warnings).toEqual([]);
    expect(bare(entries.slice(2))).toEqual([
      human('one'),
      ...bare([aiContent('two'), aiContent('three')]),
    ]);
    const isKept = entries.map(({ metadata }) => metadata?.isKept === true);
    expect(isKept).toEqual([false, false, true, true, false]);
  });
});

describe('a session of Codex that went back', () => {
  const back = (num_turns: unknown) => ({
    type: 'event_msg',
    payload: { type: 'thread_rolled_back', num_turns },
  });
  const SAID = [
    said('user', '<environment_context>\n</environment_context>'),
    said('user', 'one'),
    patch('p'),
    { type: 'event_msg', payload: { type: 'patch_apply_end', call_id: 'p', success: false } },
    patched('p', 'no'),
    said('assistant', '1'),
    said('user', 'two'),
    call('b', '{}'),
    said('user', 'three'),
  ];

  it.each([
    [1, ['<environment_context>\n</environment_context>', 'one', '1', 'two']],
    [2, ['<environment_context>\n</environment_context>', 'one', '1']],
    [9, ['<environment_context>\n</environment_context>']],
  ])('starts a context with the history before the last %i turns', async (turns, texts) => {
    const { entries, contextStarts, warnings } = await readLines([
      ...SAID,
      back(turns),
      said('user', 'other'),
      back(1),
      said('user', 'another'),
    ]);
    expect(warnings).toEqual([]);
    const last = entries.slice(contextStarts.at(-1));
    const shown = last.flatMap(({ blocks }) =>
      blocks.flatMap((block) => (block.type === 'text' ? [block.text] : [])),
    );
    expect(shown).toEqual([...texts, 'another']);
    expect(last.map(({ metadata }) => metadata?.isKept === true)).toEqual(
      last.map((_, at) => at < last.length - 1),
    );
    const results = last
      .flatMap(({ blocks }) => blocks)
      .filter((block) => block.type === 'tool_response');
    expect(results.map(({ error }) => error)).toEqual(turns === 9 ? [] : ['no']);
  });

  it.each([[0], ['x'], [undefined]])(
    'keeps its history if it went back %s turns',
    async (turns) => {
      const { contextStarts } = await readLines([...SAID, back(turns), said('user', 'other')]);
      expect(contextStarts).toEqual([]);
    },
  );
});

describe('a list of items of the Responses API', () => {
  const items = [
    { role: 'user', content: 'go' },
    { type: 'function_call', call_id: 'a', name: 'f', arguments: '{"x":1}' },
    { type: 'function_call_output', call_id: 'a', output: 'ok' },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'done' }] },
  ];

  it.each([
    ['a bare list', items],
    ['a request', { model: 'gpt-6-sol', input: items }],
  ])('is read with its calls: %s', async (_, document) => {
    const { format, entries, warnings } = await readJson(document);
    expect(format).toBe('codex');
    expect(warnings).toEqual([]);
    expect(bare(entries)).toEqual(
      bare([
        humanText('go'),
        aiContent([toolCall('a', 'f', { x: 1 })]),
        toolContent([toolResponse('a', 'f', 'ok')]),
        aiContent('done'),
      ]),
    );
  });

  it('is not a bare list of messages', async () => {
    expect(await readJson([items[0], items[3]])).toMatchObject({ format: 'openai-chat' });
  });

  it('reads records as the named format although none is of a known type', async () => {
    const { entries } = await readLines([{ id: 's' }, { instructions: '' }, items[0]], 'codex');
    expect(bare(entries)).toEqual(bare([humanText('go')]));
  });
});
