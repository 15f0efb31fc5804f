// How Gemini's contents are read as entries, and edited.

import type { Content, Part } from '@google/genai';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mediaOfResponses } from '../../../src/adapters/google/read-part.js';
import { contentFormat } from '../../../src/adapters/google/content-format.js';
import type { PartEdits, PlacedBlock } from '../../../src/adapters/format/message-format.js';
import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { explainDensity } from '../../../src/shared/density/explain/explain-density.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { IMAGE_TOKENS, OTHER_MEDIA_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { findViolations } from '../../../src/shared/validity.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { arbitraryContents, responsePart } from './arbitrary-contents.js';
import { readAll } from '../../support/read-all.js';

const CONFIG = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/w' };

/** The blocks of each entry, without origins. */
function read(...contents: readonly Content[]): unknown {
  return readAll(contentFormat.createReader(), deepFreeze(contents), 0).entries.map(
    ({ speaker, blocks }) => [speaker, ...blocks.map(({ origin: _, ...block }) => block)],
  );
}

function readPart(part: Part, role = 'model'): unknown {
  return (read({ role, parts: [part] }) as unknown[][])[0]?.[1];
}

const call = (name: string, id?: string, signature?: string): Part => ({
  functionCall: { ...(id !== undefined && { id }), name, args: { file_path: 'a.ts' } },
  ...(signature !== undefined && { thoughtSignature: signature }),
});

const response = (name: string, output: string, id?: string): Part =>
  responsePart({ ...(id !== undefined && { id }), name, response: { output } });

const model = (...parts: readonly Part[]): Content => ({ role: 'model', parts: [...parts] });
const user = (...parts: readonly Part[]): Content => ({ role: 'user', parts: [...parts] });

/** The place of the paired call, by the text of a response. */
function pairsOf(...contents: readonly Content[]): Record<string, string | undefined> {
  const blocks = readAll(contentFormat.createReader(), contents, 0).entries.flatMap(
    (entry) => entry.blocks,
  );
  const calls = new Map(
    blocks.flatMap((block) => (block.type === 'tool_call' ? [[block.id, block.origin]] : [])),
  );
  return Object.fromEntries(
    blocks.flatMap((block) =>
      block.type === 'tool_response'
        ? [[String(block.result), calls.get(block.callId)?.join('.')]]
        : [],
    ),
  );
}

function rewrite(content: Content, edits: readonly (readonly [number, object | null])[]): Content {
  return contentFormat.rewrite(deepFreeze(content), new Map(edits) as PartEdits);
}

describe('contentFormat', () => {
  it('reads a turn with a call', () => {
    expect(
      read(
        { parts: [{ text: 'read it' }] },
        model({ text: 'let me see', thought: true, thoughtSignature: 's1' }, call('read_file')),
        user(response('read_file', 'long')),
        model({ text: 'done', thoughtSignature: 's2' }),
      ),
    ).toEqual([
      ['human', { type: 'text', text: 'read it' }],
      [
        'ai',
        { type: 'thinking', thought: 'let me see', signature: 's1' },
        { type: 'tool_call', id: '#1.1', name: 'read_file', parameters: { file_path: 'a.ts' } },
      ],
      [
        'tool',
        {
          type: 'tool_response',
          callId: '#1.1',
          toolName: 'read_file',
          result: 'long',
          isComplete: true,
        },
      ],
      ['ai', { type: 'text', text: 'done' }],
    ]);
  });

  it('reads the chunks of a stream, which chats keep as separate contents, as one answer', () => {
    const chunks = ['let ', 'me ', 'see'].map((text) => model({ text }));
    const contents = [
      { parts: [{ text: 'read it' }] },
      ...chunks,
      model({ text: '' }, call('read_file')),
      user(response('read_file', 'long')),
      ...chunks,
    ];
    const { entries } = readAll(contentFormat.createReader(), contents, 0);
    expect(entries.map(({ speaker }) => speaker)).toEqual(['human', 'ai', 'tool', 'ai']);
    expect(entries[1]!.blocks).toHaveLength(5);
    expect(entries[1]!.blocks.at(-1)).toMatchObject({ type: 'tool_call', id: '#4.1' });
  });

  it('counts the tokens of media in a response', () => {
    const parts = [
      { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
      { fileData: { mimeType: 'application/pdf', fileUri: 'gs://a' } },
      {},
    ];
    const contents = [
      model(call('a', 'x'), call('a', 'y')),
      user(
        responsePart({ id: 'x', name: 'a', response: { output: 'see' }, parts }),
        responsePart({ id: 'y', name: 'a', response: { output: 'see' }, parts: [] }),
      ),
    ];
    const read = { type: 'tool_response', toolName: 'a', result: 'see', isComplete: true };
    const { entries } = readAll(contentFormat.createReader(), contents, 0);
    expect(entries[1]?.blocks).toEqual([
      { ...read, callId: 'x', origin: [1, 0], mediaTokens: IMAGE_TOKENS + OTHER_MEDIA_TOKENS },
      { ...read, callId: 'y', origin: [1, 1] },
    ]);
  });

  it('reads a content with responses and other parts as two entries', () => {
    const contents = [model(call('a')), user({ text: 'look' }, response('a', 'x'), { text: '!' })];
    const { entries } = readAll(contentFormat.createReader(), contents, 4);
    expect(entries.map(({ speaker }) => speaker)).toEqual(['ai', 'tool', 'human']);
    expect(entries.map(({ blocks }) => blocks.map(({ origin }) => origin))).toEqual([
      [[4, 0]],
      [[5, 1]],
      [
        [5, 0],
        [5, 2],
      ],
    ]);
  });

  it('takes media behind a response for its own, if the content has nothing else', () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const [x, y] = ['x', 'y'].map((id) => responsePart({ id, name: 'a', response: { n: 1 } }));
    const shown = user(x!, image, image, y!);
    const calls = model(call('a', 'x'), call('a', 'y'));
    const { entries } = readAll(contentFormat.createReader(), [calls, shown], 0);
    expect(entries[1]?.blocks).toMatchObject([
      { callId: 'x', mediaTokens: 2 * IMAGE_TOKENS, origin: [1, 0] },
      { callId: 'y', origin: [1, 3] },
    ]);
    const first = new Map([[0, null]]);
    expect(contentFormat.rewrite(shown, first).parts).toEqual([y]);
    expect(contentFormat.rewrite(shown, new Map([[3, null]])).parts).toEqual([x, image, image]);
    for (const apart of [user(x!, image, { text: 'And this?' }), model(x!, image)])
      expect(contentFormat.rewrite(apart, first).parts).toEqual(apart.parts?.slice(1));
  });

  it.each<[string, Part, object]>([
    [
      'inline data without its payload',
      { inlineData: { mimeType: 'image/png', data: 'AAAA', displayName: 'a.png' } },
      { type: 'media', mimeType: 'image/png', data: '', encoding: 'base64', filename: 'a.png' },
    ],
    [
      'a file',
      { fileData: { mimeType: 'video/mp4', fileUri: 'gs://a' } },
      { type: 'media', mimeType: 'video/mp4', data: '', encoding: 'url' },
    ],
    [
      'code to run',
      { executableCode: { code: 'x = 1' } },
      { type: 'opaque', kind: 'executableCode', tokens: 6 },
    ],
    [
      'what a later version brings',
      { novelty: { a: 'b' }, thoughtSignature: 'long'.repeat(99) } as Part,
      { type: 'opaque', kind: 'novelty', tokens: 3 },
    ],
    [
      'a signature alone',
      { text: '', thoughtSignature: 'sig' },
      { type: 'opaque', kind: 'empty', tokens: 0 },
    ],
    ['nothing', {}, { type: 'opaque', kind: 'empty', tokens: 0 }],
    [
      'only absent fields',
      { text: undefined, functionCall: null } as never,
      { type: 'opaque', kind: 'empty', tokens: 0 },
    ],
    [
      'the response of a model',
      response('a', 'x'),
      { type: 'opaque', kind: 'functionResponse', tokens: 9 },
    ],
  ])('reads %s', (_, part, block) => {
    expect(readPart(part)).toEqual(block);
  });

  it.each<[string, Record<string, unknown> | undefined, object]>([
    ['output', { output: 'ok' }, { result: 'ok' }],
    ['output that is no text', { output: { a: 1 } }, { result: { a: 1 } }],
    ['fields of its own', { stdout: 'ok', code: 0 }, { result: { stdout: 'ok', code: 0 } }],
    ['output beside others', { output: 'ok', n: 1 }, { result: { output: 'ok', n: 1 } }],
    ['a text in the field of an SDK', { result: 'ok' }, { result: 'ok' }],
    ['a value in it', { result: { a: 1 } }, { result: { result: { a: 1 } } }],
    ['an empty error', { error: '' }, { result: '' }],
    ['an error', { error: 'no\nway' }, { result: 'no\nway', error: 'no' }],
    ['an error in JSON', { error: { c: 1 } }, { result: { c: 1 }, error: '{"c":1}' }],
    ['no error', { output: 'ok', error: null }, { result: { output: 'ok', error: null } }],
    ['nothing', undefined, { result: '' }],
    [
      'the failure of a tool that speaks MCP',
      { isError: true, content: [] },
      { result: { isError: true, content: [] }, error: '{"isError":true,"content":[]}' },
    ],
  ])('reads a response of %s', (_, given, outcome) => {
    const part = responsePart({ name: 'a', ...(given && { response: given }) });
    expect(readPart(part, 'user')).toEqual({
      type: 'tool_response',
      callId: '#0.0',
      toolName: 'a',
      isComplete: true,
      ...outcome,
    });
  });

  it('reads a response that will continue as incomplete', () => {
    const more = responsePart({ name: 'a', willContinue: true, response: {} });
    expect(
      read(model(call('a')), user(more), user(response('a', 'end'))) as unknown[][],
    ).toMatchObject([
      ['ai', {}],
      ['tool', { callId: '#0.0', isComplete: false }],
      ['tool', { callId: '#0.0', isComplete: true, result: 'end' }],
    ]);
  });

  it.each(['function', 'tool'])('reads responses in the older role %s', (role) => {
    const given = [model(call('read_file', 'c1')), user(response('read_file', 'long', 'c1'))];
    expect(read(given[0]!, { ...given[1], role })).toEqual(read(...given));
  });

  it('pins contents with roles unknown to Gemini, and empty contents', () => {
    const contents = [{ role: 'system', parts: [{ text: 'Be brief.' }] }, { role: 'model' }];
    expect(readAll(contentFormat.createReader(), contents, 0)).toEqual({
      entries: [],
      pinnedTokens: 16,
    });
  });

  it.each([
    ['a text', ['hello'], 'contents[7], got a string'],
    ['null', [null], 'contents[7], got null'],
    ['parts that are no list', [{ role: 'user', parts: 'a' }], 'contents[7].parts, got string'],
    ['a part that is none', [{ parts: [{ text: 'a' }, 'b'] }], 'contents[7].parts[1], got string'],
  ])('names the error in %s', (_, contents, message) => {
    const reader = contentFormat.createReader();
    expect(() => readAll(reader, contents as unknown as Content[], 7)).toThrow(message);
  });

  describe('pairing', () => {
    it('pairs parallel calls of one name in their order', () => {
      expect(
        pairsOf(
          model(call('a'), call('b'), call('a')),
          user(response('a', 'first'), response('b', 'other'), response('a', 'second')),
        ),
      ).toEqual({ first: '0.0', other: '0.1', second: '0.2' });
    });

    it('pairs responses in separate contents, and responses without ids to calls with ids', () => {
      expect(
        pairsOf(
          model(call('a', 'x'), call('a', 'y')),
          user(response('a', 'first')),
          user(response('a', 'second')),
        ),
      ).toEqual({ first: '0.0', second: '0.1' });
    });

    it('pairs by id in any order, and when an id repeats', () => {
      expect(
        pairsOf(
          model(call('a', 'x'), call('a', 'y')),
          user(response('a', 'late', 'y'), response('a', 'early', 'x')),
          model(call('a', 'x')),
          user(response('a', 'again', 'x')),
        ),
      ).toEqual({ early: '0.0', late: '0.1', again: '2.0' });
    });

    it('does not pair different ids', () => {
      expect(pairsOf(model(call('a', 'x')), user(response('a', 'stray', 'y')))).toEqual({
        stray: undefined,
      });
    });

    it('does not pair a response with an abandoned call', () => {
      expect(
        pairsOf(
          model(call('a')),
          user({ text: 'stop' }),
          model(call('a')),
          user(response('a', 'x')),
        ),
      ).toEqual({ x: '2.0' });
    });

    it('pairs with a call of an earlier step when the present one has none', () => {
      expect(
        pairsOf(
          model(call('a')),
          user({ text: 'and?' }),
          model(call('b')),
          user(response('a', 'x')),
        ),
      ).toEqual({ x: '0.0' });
    });

    it('generates the same ids each time, and no id that a call has', () => {
      const contents = [model(call('a'), call('b', '#0.0'), call('c', '#0.0'))];
      const ids = (): string[] =>
        readAll(contentFormat.createReader(), contents, 0).entries.flatMap(({ blocks }) =>
          blocks.flatMap((block) => (block.type === 'tool_call' ? block.id : [])),
        );
      expect(new Set(ids()).size).toBe(3);
      expect(ids()).toEqual(ids());
    });
  });

  describe('signatures', () => {
    const groups = (...contents: readonly Content[]): unknown =>
      (read(...contents) as { parallelGroup?: string }[][]).flatMap((entry) =>
        entry.flatMap(({ parallelGroup }) => parallelGroup ?? []),
      );
    const names = (...contents: readonly Content[]): unknown =>
      (read(...contents) as { name?: string }[][]).flatMap((entry) =>
        entry.flatMap(({ name }) => name ?? []),
      );

    it('groups parallel calls of which the first is signed for all, under their own names', () => {
      const contents = [model(call('read_file', 'a', 'sig'), call('read_file', 'b'))];
      expect(names(...contents)).toEqual(['read_file', 'read_file']);
      expect(groups(...contents)).toEqual(['#0', '#0']);
    });

    it('groups them also when the step was streamed in several contents', () => {
      expect(
        groups(model(call('a', '1', 'sig')), model(call('b', '2')), user(response('a', '1'))),
      ).toEqual(['#0', '#0']);
    });

    it.each([
      ['a call alone', [model(call('a', '1', 'sig')), user(response('a', 'x')), model(call('b'))]],
      ['calls that are all signed', [model(call('a', '1', 'sig'), call('b', '2', 'sig'))]],
      ['calls of which none is', [model(call('a'), call('b'))]],
    ])('does not group %s', (_, contents) => {
      expect(names(...contents)).toEqual(['a', 'b']);
      expect(groups(...contents)).toEqual([]);
    });

    describe('in a density pass', () => {
      const file = (name: string, id: string, file_path: string, signature?: string): Part => ({
        ...call(name, id, signature),
        functionCall: { id, name, args: { file_path } },
      });
      /** A read, two parallel calls of which the first may be signed for both, and a write. */
      const talk = (first: string, second: string, signature?: string): readonly Content[] => [
        user({ text: 'begin' }),
        model(file('read_file', '1', 'a', signature)),
        user(response('read_file', 'done', '1')),
        model(file(first, '2', 'a', signature), file(second, '3', 'b')),
        user(response(first, 'done', '2'), response(second, 'done', '3')),
        model(file('write_file', '4', 'b', signature)),
        user(response('write_file', 'done', '4')),
        model(file('write_file', '5', 'a', signature)),
        user(response('write_file', 'done', '5')),
      ];
      const entriesOf = (contents: readonly Content[]): IContent[] =>
        readAll(contentFormat.createReader(), contents, 0).entries.map(({ speaker, blocks }) => ({
          speaker,
          blocks,
        }));
      const reasons = (contents: readonly Content[]): unknown => {
        const history = entriesOf(contents);
        const explained = explainDensity(history, CONFIG);
        return history.flatMap((_, at) =>
          explained.explain(at).blocks.map(({ rule, reason }) => `${rule} ${reason}`),
        );
      };
      const callsLeft = (contents: readonly Content[]): string[] => {
        const history = entriesOf(contents);
        applyDensityResult(history, optimize(history, CONFIG));
        return history.flatMap(({ blocks }) =>
          blocks.flatMap((block) => (block.type === 'tool_call' ? block.id : [])),
        );
      };

      it.each([
        ['a write', 'write_file', 'write_file'],
        ['a write beside a stale read', 'write_file', 'read_file'],
        ['a stale read beside a write', 'read_file', 'write_file'],
        ['a stale read beside another', 'read_file', 'read_file'],
      ])('gives the same reasons for a signed %s as for an unsigned one', (_, ...tools) => {
        expect(reasons(talk(...tools, 'sig'))).toEqual(reasons(talk(...tools)));
      });

      it.each([
        ['write_file', 'write_file', '2345', '2345'],
        ['write_file', 'read_file', '245', '245'],
        ['read_file', 'write_file', '2345', '345'],
        ['read_file', 'read_file', '45', '45'],
      ])(
        'keeps a signed %s as long as the parallel %s stays',
        (first, second, signed, unsigned) => {
          expect(callsLeft(talk(first, second, 'sig')).join('')).toBe(signed);
          expect(callsLeft(talk(first, second)).join('')).toBe(unsigned);
        },
      );
    });

    it('binds no other part to the call beside it', () => {
      const code = { executableCode: { code: 'print(1)' } } as Part;
      const [, ...blocks] = (read(model(call('a'), code)) as unknown[][])[0] ?? [];
      expect(blocks[1]).toMatchObject({ type: 'opaque', kind: 'executableCode' });
      expect(blocks[1]).not.toHaveProperty('callId');
    });

    it('removes an empty signed part together with the call beside it', () => {
      const empty = { text: '', thoughtSignature: 'sig' };
      expect(read(model(empty, call('a', 'x'), call('b', 'y'), empty))).toMatchObject([
        ['ai', { callId: 'x' }, { id: 'x' }, { id: 'y' }, { callId: 'y' }],
      ]);
    });
  });

  describe('rewrite', () => {
    const result = (text: string): object => ({ type: 'tool_response', result: text });

    it('replaces the output of a function, media included, and nothing around it', () => {
      const fields = { id: 'x', name: 'a' };
      const given = {
        ...fields,
        response: { stdout: 'long', exitCode: 0 },
        parts: [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
      };
      const marks: Part = { thoughtSignature: 'sig', partMetadata: { turn: 1 } };
      const content = user({ text: 'a' }, responsePart(given, marks), { text: 'b' });
      const rewritten = rewrite(content, [[1, result('short')]]);
      expect(rewritten).toEqual({
        role: 'user',
        parts: [
          { text: 'a' },
          responsePart({ ...fields, response: { output: 'short' } }, marks),
          { text: 'b' },
        ],
      });
      expect(rewritten.parts?.[0]).toBe(content.parts?.[0]);
      expect(rewritten.parts?.[2]).toBe(content.parts?.[2]);
    });

    it.each([
      [{ error: 'long' }, { error: 'short' }],
      [{ error: { stack: 'long' }, stdout: '' }, { error: 'short' }],
      [{ isError: true, content: [] }, { error: 'short' }],
      [{ output: 'long', error: null }, { output: 'short' }],
      [{ result: 'long' }, { result: 'short' }],
      [{ result: ['long'] }, { output: 'short' }],
    ])('keeps a failure a failure, and a text in its field: %j', (given, written) => {
      const content = user(responsePart({ name: 'a', response: given }));
      expect(
        rewrite(content, [[0, result('short')]]).parts?.[0]?.functionResponse?.response,
      ).toEqual(written);
    });

    it("keeps what the computer tool needs beside a screenshot, and nothing of other tools' fields", () => {
      const parts = [{ inlineData: { mimeType: 'image/png', data: 'AAAA' } }];
      const page = { url: 'https://a.example', safety_acknowledgement: true };
      const responseOf = (given: object): unknown =>
        rewrite(user(responsePart({ name: 'a', ...given })), [[0, result('short')]]).parts?.[0]
          ?.functionResponse;
      expect(responseOf({ response: { ...page, title: 'A' }, parts })).toEqual({
        name: 'a',
        response: { ...page, output: 'short' },
      });
      expect(responseOf({ response: { url: page.url }, parts })).toMatchObject({
        response: { url: page.url, output: 'short' },
      });
      expect(responseOf({ response: { ...page, body: 'long' } })).toEqual({
        name: 'a',
        response: { output: 'short' },
      });
    });

    it('replaces the arguments of a call', () => {
      const args = { file_path: 'a.ts', content: '[gone]' };
      const edit = { type: 'tool_call', id: 'c', name: 'write', parameters: args };
      const content = model({ text: 'So.' }, call('write', 'c'));
      expect(rewrite(content, [[1, edit]])).toEqual(
        model({ text: 'So.' }, { functionCall: { id: 'c', name: 'write', args } }),
      );
    });

    it('replaces a text, and removes parts', () => {
      const content = { parts: [{ text: 'a', thoughtSignature: 'sig' }, { text: 'b' }, call('c')] };
      expect(
        rewrite(content, [
          [0, { type: 'text', text: 'A' }],
          [1, null],
        ]),
      ).toEqual({ parts: [{ text: 'A', thoughtSignature: 'sig' }, call('c')] });
    });
  });

  it('writes entries of ctxfold as contents', () => {
    const text = { type: 'text', text: 'so far' } as const;
    expect(contentFormat.write({ speaker: 'human', blocks: [text] }, [])).toEqual(
      user({ text: 'so far' }),
    );
    expect(contentFormat.write({ speaker: 'ai', blocks: [text, text] }, [])).toEqual(
      model({ text: 'so far' }, { text: 'so far' }),
    );
  });

  it('pairs calls and responses, with ids or without', () => {
    fc.assert(
      fc.property(arbitraryContents, (contents) => {
        const { entries } = readAll(contentFormat.createReader(), contents, 0);
        expect(findViolations(entries)).toEqual([]);
        expect(pairsInOrder(entries.flatMap(({ blocks }) => blocks))).toBe(true);
      }),
    );
  });

  it('recognizes contents that went through JSON', () => {
    fc.assert(
      fc.property(arbitraryContents, (contents) => {
        for (const content of contents) {
          const copy = JSON.parse(JSON.stringify(content)) as Content;
          expect(contentFormat.isSame(content, copy)).toBe(true);
          expect(contentFormat.isSame(content, { ...copy, parts: [] })).toBe(false);
        }
      }),
    );
  });

  it('keeps unedited parts the same objects, and changes nothing else of edited ones', () => {
    fc.assert(
      fc.property(arbitraryContents, fc.infiniteStream(fc.nat(2)), (contents, choices) => {
        const { entries } = readAll(contentFormat.createReader(), contents, 0);
        for (const { blocks } of entries) checkEdits(contents, blocks, choices);
      }),
    );
  });
});

/** Whether responses are paired in order: these conversations answer a function in the order of its calls. */
function pairsInOrder(blocks: readonly PlacedBlock[]): boolean {
  const open: ContentBlock[] = [];
  return blocks.every((block) => {
    if (block.type === 'tool_call') open.push(block);
    if (block.type !== 'tool_response') return true;
    const first = open.shift();
    return first?.type === 'tool_call' && first.id === block.callId;
  });
}

function checkEdits(
  contents: readonly Content[],
  blocks: readonly PlacedBlock[],
  choices: Iterator<number>,
): void {
  const content = contents[blocks[0]!.origin[0]]!;
  const parts = content.parts ?? [];
  const edits = new Map<number, ContentBlock | null>();
  for (const block of blocks) {
    const choice = choices.next().value as number;
    if (choice === 0) edits.set(block.origin[1], null);
    if (choice === 1 && block.type === 'tool_response') {
      edits.set(block.origin[1], { ...block, result: 'pruned' });
    }
  }
  const rewritten = contentFormat.rewrite(content, edits).parts ?? [];
  for (const [at, owner] of mediaOfResponses(parts)) if (edits.has(owner)) edits.set(at, null);
  const left = parts.flatMap((part, at) => (edits.get(at) === null ? [] : [{ part, at }]));
  expect(rewritten).toHaveLength(left.length);
  left.forEach(({ part, at }, place) => {
    const written = rewritten[place]!;
    if (!edits.has(at)) return expect(written).toBe(part);
    expect({ ...written, functionResponse: 0 }).toEqual({ ...part, functionResponse: 0 });
    expect(Object.values(written.functionResponse?.response ?? {})).toEqual(['pruned']);
    const [now, then] = [written, part].map(
      ({ functionResponse }): object => functionResponse ?? {},
    );
    expect({ ...now, response: 0 }).toEqual({ ...then, response: 0 });
  });
}
