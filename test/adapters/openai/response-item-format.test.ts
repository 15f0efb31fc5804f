// How items of the Responses API are read as entries, and edited.

import { readFile } from 'node:fs/promises';
import fc from 'fast-check';
import type { ResponseInputItem } from 'openai/resources/responses/responses';
import { describe, expect, it } from 'vitest';
import { REMOVED_SCREENSHOT, SCREENSHOT } from '../../../src/adapters/format/screenshot.js';
import { responseItemFormat } from '../../../src/adapters/openai/response-item-format.js';
import { humanText, toolCall } from '../../../src/shared/content.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { findBreaches } from '../../support/find-breaches.js';
import { arbitraryTalk } from './arbitrary-talks.js';
import { arbitraryEdits, editTalk, SHRUNK } from './edited-talk.js';
import type { Edits } from './edited-talk.js';
import { findProblems, keyOf } from './item-talks.js';
import type { Item } from './item-talks.js';
import { readAll } from '../../support/read-all.js';
import { deepFreeze } from '../../support/deep-freeze.js';

/** The speaker and blocks of each entry, with origins as text. */
function read(...items: readonly unknown[]): readonly unknown[] {
  const reader = responseItemFormat.createReader();
  return readAll(reader, items as ResponseInputItem[], 0).entries.map(({ speaker, blocks }) => [
    speaker,
    ...blocks.map(({ origin: [message, part], ...block }) => [`${message}.${part}`, block]),
  ]);
}

const text = (said: string): ContentBlock => ({ type: 'text', text: said });

const REASONING: ResponseInputItem = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [
    { type: 'summary_text', text: 'first' },
    { type: 'summary_text', text: 'second' },
  ],
  encrypted_content: 'sealed',
};
const CALL = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'c1',
  name: 'read_file',
  arguments: '{"path":"a.ts"}',
} as const;
const OUTPUT = { type: 'function_call_output', call_id: 'c1', output: 'long' } as const;
const SHELL = {
  type: 'shell_call',
  call_id: 's1',
  action: { commands: ['ls', 'cat a.ts'] },
} as const;
const PATCH = { type: 'apply_patch_call', call_id: 's1', status: 'completed' } as const;
const ROBOT = { type: 'robot_call', call_id: 's1' } as const;

const CALL_BLOCK = { type: 'tool_call', id: 'c1', name: 'read_file', parameters: { path: 'a.ts' } };
const OUTPUT_BLOCK = {
  type: 'tool_response',
  callId: 'c1',
  toolName: 'read_file',
  result: 'long',
  isComplete: true,
};

describe('responseItemFormat', () => {
  it('reads consecutive items of the model as one entry', () => {
    const message = {
      type: 'message',
      id: 'msg_1',
      role: 'assistant',
      status: 'completed',
      content: [
        { type: 'output_text', text: 'I read.', annotations: [] },
        { type: 'output_text', text: 'Wait.', annotations: [] },
      ],
    };
    expect(read({ role: 'user', content: 'go' }, REASONING, message, CALL, OUTPUT)).toEqual([
      ['human', ['0.0', text('go')]],
      [
        'ai',
        [
          '1.0',
          {
            type: 'thinking',
            thought: 'first\nsecond',
            sourceField: 'reasoning',
            signature: 'rs_1',
            encryptedContent: 'sealed',
          },
        ],
        ['2.0', text('I read.')],
        ['2.1', text('Wait.')],
        ['3.0', CALL_BLOCK],
      ],
      ['tool', ['4.0', OUTPUT_BLOCK]],
    ]);
  });

  it('reads custom tools, and arguments that are no JSON as text', () => {
    const custom = { type: 'custom_tool_call', call_id: 'c2', name: 'apply_patch', input: '*** x' };
    const output = {
      type: 'custom_tool_call_output',
      call_id: 'c2',
      output: 'Error: no such file',
    };
    expect(read({ ...CALL, arguments: '{"path' }, custom, output)).toEqual([
      [
        'ai',
        ['0.0', { ...CALL_BLOCK, parameters: '{"path' }],
        [
          '1.0',
          { type: 'tool_call', id: 'c2', name: 'apply_patch', parameters: { input: '*** x' } },
        ],
      ],
      [
        'tool',
        [
          '2.0',
          {
            ...OUTPUT_BLOCK,
            callId: 'c2',
            toolName: 'apply_patch',
            result: 'Error: no such file',
            error: 'Error: no such file',
          },
        ],
      ],
    ]);
  });

  it('reads media by name, without payloads', () => {
    const entries = read(
      {
        role: 'user',
        content: [
          { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'auto' },
          { type: 'input_file', file_data: 'AAAA', filename: 'a.pdf' },
        ],
      },
      CALL,
      { ...OUTPUT, output: [{ type: 'input_image', image_url: 'data:image/png;base64,AAAA' }] },
      {
        type: 'image_generation_call',
        id: 'ig_1',
        status: 'completed',
        result: 'AAAA'.repeat(999),
      },
    );
    expect(JSON.stringify(entries)).not.toContain('AAAA');
    expect(entries).toMatchObject([
      ['human', ['0.0', { mimeType: 'image/*' }], ['0.1', { filename: 'a.pdf' }]],
      ['ai', ['1.0', CALL_BLOCK]],
      ['tool', ['2.0', { result: [{ type: 'input_image' }], mediaTokens: IMAGE_TOKENS }]],
      ['ai', ['3.0', { type: 'opaque', kind: 'image_generation_call' }]],
    ]);
  });

  it.each([
    ['a system message', { role: 'system', content: 'Be brief.' }],
    ['a developer message', { type: 'message', role: 'developer', content: 'Be brief.' }],
    [
      'the output of a shell call elsewhere',
      { type: 'shell_call_output', call_id: 's1', output: [] },
    ],
    [
      'a shell call that the provider runs',
      { ...SHELL, environment: { type: 'container_reference' } },
    ],
    ['a patch of an unknown kind', { ...PATCH, operation: { type: 'move_file', path: 'a.ts' } }],
    ['a reference', { id: 'fc_9' }],
    ['a compaction that holds nothing', { type: 'compaction', encrypted_content: '' }],
    ['a search for tools', { type: 'tool_search_call', arguments: {} }],
    ['an approval', { type: 'mcp_approval_response', approval_request_id: 'm', approve: true }],
    ['a call by a program', { ...CALL, caller: { type: 'program', caller_id: 'p' } }],
    ['an output whose call the provider has', OUTPUT],
    ['an unknown kind with a partner', { type: 'robot_call', call_id: 'r1' }],
  ])('pins %s', (_, item) => {
    const reading = readAll(responseItemFormat.createReader(), [item as ResponseInputItem], 0);
    expect(reading.entries).toEqual([]);
    expect(reading.pinnedTokens).toBeGreaterThan(0);
  });

  it("pins the model's items next to a pinned kind, and the outputs of their calls", () => {
    const answer = { type: 'mcp_approval_response', call_id: 's1' };
    expect(read(REASONING, CALL, ROBOT, answer, OUTPUT)).toEqual([]);
    const next = { ...CALL, id: 'fc_2' };
    expect(read(REASONING, CALL, ROBOT, answer, OUTPUT, next, OUTPUT)).toEqual([
      ['ai', ['5.0', CALL_BLOCK]],
      ['tool', ['6.0', OUTPUT_BLOCK]],
    ]);
  });

  it.each([
    { type: 'computer_call_output', call_id: 's1', output: {} },
    { type: 'local_shell_call_output', id: 's1', output: '' },
    { type: 'shell_call_output', call_id: 's1', output: [] },
    { type: 'apply_patch_call_output', call_id: 's1', status: 'completed' },
    { type: 'tool_search_output', call_id: 's1', tools: [], execution: 'client' },
    { type: 'mcp_approval_response', approval_request_id: 's1', approve: true },
    { type: 'additional_tools', role: 'developer', tools: [] },
    { type: 'configuration_update', reasoning: { effort: 'high' } },
    { type: 'compaction_trigger' },
  ])('pins a result of type $type, and not the items behind it', (answer) => {
    expect(read(ROBOT, answer, CALL, OUTPUT)).toEqual([
      ['ai', ['2.0', CALL_BLOCK]],
      ['tool', ['3.0', OUTPUT_BLOCK]],
    ]);
  });

  it.each([
    [{ type: 'exit', exit_code: 0 }, undefined],
    [{ type: 'exit', exitCode: -1 }, 'exit code -1'],
    [{ type: 'timeout' }, 'timeout'],
    [undefined, undefined],
  ])('recognizes a failed shell command by %j', (outcome, error) => {
    const output = [{ stdout: 'a.ts', stderr: '', outcome }];
    const answer = { type: 'shell_call_output', call_id: 's1', output };
    const failure = error === undefined ? {} : { error };
    const block = { ...OUTPUT_BLOCK, callId: 's1', toolName: 'shell', result: 'a.ts', ...failure };
    expect(read(SHELL, answer)[1]).toEqual(['tool', ['1.0', block]]);
  });

  it("reads the calls of OpenAI's shell and patch tools, and their outputs", () => {
    const outputs = [
      { stdout: 'a.ts', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      { stdout: 'long', stderr: 'odd', outcome: { type: 'exit', exit_code: 1 } },
    ];
    const ran = { type: 'shell_call_output', call_id: 's1', output: outputs };
    const operation = { type: 'update_file', path: 'a.ts', diff: '-old\n+new' };
    const patch = { type: 'apply_patch_call', call_id: 'p1', status: 'completed', operation };
    const failed = {
      type: 'apply_patch_call_output',
      call_id: 'p1',
      status: 'failed',
      output: 'No.',
    };
    const response = { ...OUTPUT_BLOCK, isComplete: true };
    const input = '*** Begin Patch\n*** Update File: a.ts\n-old\n+new\n*** End Patch';
    const fixed = { hasFixedParameters: true };
    const done = { ...OUTPUT_BLOCK, callId: 'p1', toolName: 'apply_patch', result: 'No.' };
    expect(read(patch, { ...failed, status: 'completed' })[1]).toEqual(['tool', ['1.0', done]]);
    expect(read({ ...SHELL, call_id: undefined })).toMatchObject([
      ['ai', ['0.0', { type: 'opaque', kind: 'shell_call' }]],
    ]);
    expect(read(REASONING, SHELL, patch, ran, failed)).toEqual([
      [
        'ai',
        ['0.0', expect.objectContaining({ type: 'thinking' })],
        ['1.0', { ...toolCall('s1', 'shell', { command: 'ls\ncat a.ts' }), ...fixed }],
        ['2.0', { ...toolCall('p1', 'apply_patch', { input }), ...fixed }],
      ],
      [
        'tool',
        [
          '3.0',
          {
            ...response,
            callId: 's1',
            toolName: 'shell',
            result: 'a.ts\nlong\nodd',
            error: 'exit code 1',
          },
        ],
      ],
      [
        'tool',
        [
          '4.0',
          { ...response, callId: 'p1', toolName: 'apply_patch', result: 'No.', error: 'No.' },
        ],
      ],
    ]);
    const rewritten = (item: object, block: object): unknown =>
      responseItemFormat.rewrite(item as ResponseInputItem, new Map([[0, block as ContentBlock]]));
    const short = { ...OUTPUT_BLOCK, result: 'short' };
    const [, last] = outputs;
    expect(rewritten(ran, short)).toEqual({
      ...ran,
      output: [{ ...last, stdout: 'short', stderr: '' }],
    });
    expect(rewritten(failed, short)).toEqual({ ...failed, output: 'short' });
    expect(rewritten(patch, { ...CALL_BLOCK, parameters: {} })).toBe(patch);
    const late = {
      type: 'shell_call_output',
      call_id: 's1',
      output: [{ outcome: { type: 'timeout' } }],
    };
    expect(read(SHELL, late)).toMatchObject([
      {},
      ['tool', ['1.0', { result: '', error: 'timeout' }]],
    ]);
  });

  it.each([{ image_url: 'data:,' }, { file_id: 'f1' }])(
    'reads the use of a computer, and leaves a picture in place of a screenshot, %j',
    (picture) => {
      const actions = [{ type: 'screenshot' }];
      const call = { type: 'computer_call', id: 'cu', call_id: 's1', actions };
      const output = { type: 'computer_screenshot', ...picture, detail: 'original' };
      const shown = {
        ...{ type: 'computer_call_output', call_id: 's1', output },
        acknowledged_safety_checks: [{ id: 'sc' }],
      };
      const block = { ...OUTPUT_BLOCK, callId: 's1', toolName: 'computer', ...SCREENSHOT };
      expect(read(REASONING, call, shown)).toEqual([
        [
          'ai',
          ['0.0', expect.objectContaining({ type: 'thinking' })],
          ['1.0', { ...toolCall('s1', 'computer', { actions }), hasFixedParameters: true }],
        ],
        ['tool', ['2.0', block]],
      ]);
      const { actions: _, ...single } = { ...call, action: actions[0] };
      expect(read(REASONING, single, shown)).toEqual(read(REASONING, call, shown));
      const edits = new Map([[0, { ...block, result: 'gone' } as ContentBlock]]);
      expect(responseItemFormat.rewrite(shown as ResponseInputItem, edits)).toEqual({
        ...shown,
        output: { type: output.type, detail: 'original', image_url: REMOVED_SCREENSHOT },
      });
    },
  );

  it.each([{ id: 's1' }, { id: 'lsh_out', call_id: 's1' }])(
    'reads and shortens what the older local shell printed, %j',
    (ids) => {
      const action = { type: 'exec', command: ['cat', 'a.ts'], env: {} };
      const call = { type: 'local_shell_call', id: 'lsh', call_id: 's1', action };
      const ran = { type: 'local_shell_call_output', ...ids, output: 'long' };
      const block = { ...OUTPUT_BLOCK, callId: 's1', toolName: 'local_shell', result: 'long' };
      expect(read(REASONING, call, ran)).toEqual([
        [
          'ai',
          ['0.0', expect.objectContaining({ type: 'thinking' })],
          ['1.0', { ...toolCall('s1', 'local_shell', action), hasFixedParameters: true }],
        ],
        ['tool', ['2.0', block]],
      ]);
      const edits = new Map([[0, { ...block, result: 'short' } as ContentBlock]]);
      expect(responseItemFormat.rewrite(ran as ResponseInputItem, edits)).toEqual({
        ...ran,
        output: 'short',
      });
    },
  );

  it('reads an approval, once the call has been made or denied, as one entry', () => {
    const request = { type: 'mcp_approval_request', id: 'm1', name: 'x', arguments: '{}' };
    const response = (approve: boolean): object => {
      return { type: 'mcp_approval_response', approval_request_id: 'm1', approve };
    };
    const made = { type: 'mcp_call', id: 'm2', approval_request_id: 'm1', output: 'x' };
    const message = { role: 'assistant', content: 'Done.' };
    const origins = (...items: readonly object[]): unknown =>
      (read(...items) as [string, ...[string, unknown][]][]).map(([speaker, ...blocks]) =>
        [speaker, ...blocks.map(([origin]) => origin)].join(' '),
      );
    const asked = [REASONING, request];
    expect(origins(...asked, response(true))).toEqual([]);
    expect(origins(...asked, response(true), made, message)).toEqual(['ai 0.0 1.0 2.0 3.0 4.0']);
    expect(origins(...asked, response(false), message)).toEqual(['ai 0.0 1.0 2.0', 'ai 3.0']);
    expect(origins(response(true), made, message)).toEqual([]);
  });

  it('reads a program of the model with its calls, once it has ended, as one entry', () => {
    const program = { type: 'program', id: 'pr_1', call_id: 'p1', code: 'x', fingerprint: 'f' };
    const caller = { type: 'program', caller_id: 'p1' };
    const first = { ...CALL, caller };
    const second = { type: 'custom_tool_call', call_id: 'c2', name: 'sql', input: 'x', caller };
    const answer = { type: 'custom_tool_call_output', call_id: 'c2', output: 'ok', caller };
    const ended = { type: 'program_output', id: 'po_1', call_id: 'p1', result: 'ok' };
    const message = { role: 'assistant', content: 'Done.' };
    const running = [REASONING, program, first, OUTPUT, second, answer];
    const origins = (...items: readonly object[]): unknown =>
      (read(...items) as [string, ...[string, unknown][]][]).map(([speaker, ...blocks]) =>
        [speaker, ...blocks.map(([origin]) => origin)].join(' '),
      );
    expect(origins(...running)).toEqual([]);
    expect(origins(...running, ended, message, { role: 'user', content: 'So?' })).toEqual([
      'ai 0.0 1.0 2.0 3.0 4.0 5.0 6.0 7.0',
      'human 8.0',
    ]);
    expect(JSON.stringify(read(...running, ended))).not.toMatch(/thinking|tool_call"/);
    // A call without its program is pinned, and so is a program that has not ended.
    expect(origins(first, OUTPUT)).toEqual([]);
    expect(origins(program, first, OUTPUT, { role: 'user', content: 'Stop.' })).toEqual([
      'human 3.0',
    ]);
  });

  it("pins the model's items behind a tool search of the provider", () => {
    const search = { type: 'tool_search_output', tools: [], execution: 'server' };
    expect(read(search, CALL, OUTPUT)).toEqual([]);
  });

  it('reads references to reasoning and to messages as what they refer to, and pins runs with others', () => {
    const referred = ['rs_1', 'msg_1'].map((id) => ({ type: 'item_reference', id }));
    expect(read(...referred, CALL, OUTPUT)).toMatchObject([
      [
        'ai',
        ['0.0', { type: 'thinking', thought: '', signature: 'rs_1' }],
        ['1.0', { type: 'opaque' }],
        ['2.0', CALL_BLOCK],
      ],
      ['tool', ['3.0', OUTPUT_BLOCK]],
    ]);
    for (const id of ['fc_1', 'rsx', '', undefined])
      expect(read(...referred, { type: 'item_reference', id }, CALL, OUTPUT)).toEqual([]);
  });

  it('pins reasoning whose item arrives in a later read, and that item', () => {
    const reader = responseItemFormat.createReader();
    expect(readAll(reader, [REASONING], 0).entries).toEqual([]);
    expect(readAll(reader, [CALL, OUTPUT], 1).entries).toEqual([]);
    expect(readAll(reader, [CALL, OUTPUT], 3).entries).toHaveLength(2);
  });

  it("reads the provider's tools and unknown items as opaque", () => {
    expect(
      read(
        { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search' } },
        { type: 'telepathy', thought: 'x'.repeat(400) },
      ),
    ).toEqual([
      [
        'ai',
        ['0.0', { type: 'opaque', kind: 'web_search_call', tokens: expect.any(Number) }],
        ['1.0', { type: 'opaque', kind: 'telepathy', tokens: 105 }],
      ],
    ]);
  });

  it.each([
    ['item 1', null],
    ['call_id of item 1', { type: 'function_call', name: 'x', arguments: '' }],
    ['name of item 1', { type: 'function_call', call_id: 'x', arguments: '' }],
    ['item 1, part 0', { role: 'user', content: [7] }],
    ['content of item 1', { role: 'user', content: 7 }],
  ])('refuses an invalid item, and names %s', (place, item) => {
    expect(() => read({ role: 'user', content: 'go' }, item)).toThrow(place);
    expect(() => read({ role: 'user', content: 'go' }, item)).toThrow(TypeError);
  });

  it('writes a result in the form of its output, with its cache mark', () => {
    const parts: ResponseInputItem = {
      type: 'function_call_output',
      call_id: 'c1',
      id: 'fco_1',
      output: [
        { type: 'input_text', text: 'long' },
        { type: 'input_image', image_url: 'data:', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    };
    const edits = new Map([[0, { ...OUTPUT_BLOCK, result: 'short' } as ContentBlock]]);
    expect(responseItemFormat.rewrite(OUTPUT, edits)).toEqual({ ...OUTPUT, output: 'short' });
    expect(responseItemFormat.rewrite(parts, edits)).toEqual({
      ...parts,
      output: [
        { type: 'input_text', text: 'short', prompt_cache_breakpoint: { mode: 'explicit' } },
      ],
    });
  });

  it('writes texts into their parts, and drops other parts', () => {
    const parts = [
      {
        type: 'input_text' as const,
        text: 'long',
        prompt_cache_breakpoint: { mode: 'explicit' as const },
      },
      { type: 'input_text' as const, text: 'gone' },
      { type: 'input_file' as const, file_id: 'f' },
    ];
    const message = { role: 'user' as const, content: parts };
    const edited = responseItemFormat.rewrite(
      message,
      new Map([
        [0, text('short')],
        [1, null],
      ]),
    );
    expect(edited).toEqual({ role: 'user', content: [{ ...parts[0], text: 'short' }, parts[2]] });
    expect((edited as typeof message).content[1]).toBe(parts[2]);
    const plain = { role: 'user' as const, content: 'long' };
    expect(responseItemFormat.rewrite(plain, new Map([[0, text('short')]]))).toEqual({
      role: 'user',
      content: 'short',
    });
  });

  it('writes entries of its own as messages without ids', () => {
    const written = { type: 'message', role: 'user', content: 'a summary' };
    expect(responseItemFormat.write(humanText('a summary'), [])).toEqual(written);
    expect(responseItemFormat.write({ speaker: 'ai', blocks: [text('a'), text('b')] }, [])).toEqual(
      { type: 'message', role: 'assistant', content: 'a\n\nb' },
    );
  });

  it('keeps items valid, whatever is edited', () => {
    fc.assert(
      fc.property(arbitraryTalk, arbitraryEdits, ({ responses }, edits) => {
        const { standing } = editTalk(responseItemFormat, responses, edits);
        const breaches = (input: readonly unknown[]): readonly unknown[] =>
          findBreaches({ api: 'openai-responses', path: '', headers: {}, body: { input } });
        expect(breaches(responses)).toEqual([]);
        expect(breaches(standing)).toEqual([]);
        expect(findProblems(plain(standing), plain(responses))).toEqual([]);
      }),
    );
  });

  it('keeps items valid to which references stand for reasoning and messages, whatever is edited', () => {
    fc.assert(
      fc.property(arbitraryTalk, arbitraryEdits, ({ responses }, edits) => {
        const items = new Map(plain(responses).map((item) => [item['id'], item]));
        const referred = plain(responses).map(({ id, ...item }) =>
          /^(?:rs|msg)_/.test(String(id)) ? { type: 'item_reference', id } : { id, ...item },
        ) as unknown as ResponseInputItem[];
        const { standing, entries } = editTalk(responseItemFormat, referred, edits);
        expect(entries).toHaveLength(editTalk(responseItemFormat, responses, edits).entries.length);
        const resolved = plain(standing).map((item) =>
          item['id'] === undefined ? item : (items.get(item['id']) ?? item),
        );
        expect(findProblems(resolved, plain(responses))).toEqual([]);
      }),
    );
  });

  it('changes nothing of an item but an edited output', () => {
    fc.assert(
      fc.property(arbitraryTalk, arbitraryEdits, ({ responses }, edits) => {
        const given = new Map(plain(responses).map((item) => [keyOf(item), item]));
        for (const item of plain(editTalk(responseItemFormat, responses, edits).standing)) {
          const former = given.get(keyOf(item));
          if (item === former) continue;
          expect(JSON.stringify(item['output'])).toMatch(
            item['type'] === 'computer_call_output' ? /"data:image.png/ : SHRUNK,
          );
          expect({ ...item, output: former?.['output'] }).toEqual(former);
        }
      }),
    );
  });

  it('reads and edits items recorded by Codex', async () => {
    const items = deepFreeze(await recordedItems());
    const { entries, pinnedTokens } = readAll(responseItemFormat.createReader(), items, 0);
    const places = new Set(entries.flatMap(({ blocks }) => blocks.map(({ origin }) => origin[0])));
    const pinned = plain(items).filter((_, at) => !places.has(at));
    expect(pinned.map(({ role }) => role)).toEqual(['developer']);
    expect(pinnedTokens).toBeGreaterThan(0);
    const edits: Edits = { calls: ['keep', 'drop', 'shrink'], entries: [false] };
    const { standing } = editTalk(responseItemFormat, items, edits);
    expect(findProblems(plain(standing), plain(items))).toEqual([]);
    expect(standing.length).toBeLessThan(items.length - 30);
    const calls = standing.filter(({ type }) => type === 'function_call');
    const sealed = standing.filter(({ type }) => type === 'reasoning');
    for (const item of [...calls, ...sealed]) expect(items.includes(item)).toBe(true);
  });
});

function plain(items: readonly ResponseInputItem[]): readonly Item[] {
  return items as unknown as readonly Item[];
}

async function recordedItems(): Promise<readonly ResponseInputItem[]> {
  const file = '../../fixtures/transcripts/codex/jdx-mise__71-b56c467073-0.jsonl';
  const text = await readFile(new URL(file, import.meta.url), 'utf8');
  const records = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Item);
  return records
    .filter(({ type }) => type === 'response_item')
    .map(({ payload }) => payload as ResponseInputItem);
}
