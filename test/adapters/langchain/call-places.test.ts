// Calls with changed arguments: changed in every place of a message, or in none.

import { load } from '@langchain/core/load';
import { AIMessage, AIMessageChunk } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import type { PartEdits } from '../../../src/adapters/format/message-format.js';
import { baseMessageFormat as format } from '../../../src/adapters/langchain/base-message-format.js';
import { asRecord } from '../../../src/shared/json.js';
import { runSlices } from '../../../src/shared/slices.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { readAll, readInto } from '../../support/read-all.js';
import { aiMessageOf, arbitraryBaseMessages, writtenBy } from './arbitrary-base-messages.js';

const LONG = 'a long text';
const ARGS = { path: 'a.ts', content: LONG };
const TEXT = JSON.stringify(ARGS, null, 1);
const SHORT = { path: 'a.ts', content: 'left out' };
const CALL = { id: 'c1', name: 'write_file', args: ARGS };
const OTHER = { ...CALL, id: 'c2' };

interface Read {
  readonly part: number;
  readonly id: string;
  readonly parameters: unknown;
  readonly isFixed: boolean;
}

function callsOf(message: BaseMessage): readonly Read[] {
  const { entries } = readAll(format.createReader(), [message], 0);
  return entries.flatMap(({ blocks }) =>
    blocks.flatMap((block) => {
      if (block.type !== 'tool_call') return [];
      const { id, parameters, hasFixedParameters: isFixed = false } = block;
      return [{ part: block.origin[1], id, parameters, isFixed }];
    }),
  );
}

/** Replaces the first call's arguments. */
function shortened<M extends BaseMessage>(message: M, parameters: unknown = SHORT): M {
  const [call] = callsOf(message);
  const edit = { type: 'tool_call', id: call!.id, name: 'write_file', parameters };
  return format.rewrite(message, new Map([[call!.part, edit]]) as PartEdits) as M;
}

/** All fields of a message, as JSON. */
const jsonOf = (message: BaseMessage): string => JSON.stringify({ ...message });

describe('a call whose arguments are changed', () => {
  it.each<[string, object, object]>([
    ['in the list of calls alone', {}, {}],
    [
      'as a block of Anthropic',
      { content: [{ type: 'tool_use', id: 'c1', name: 'write_file', input: ARGS, caller: 1 }] },
      { content: [{ type: 'tool_use', id: 'c1', name: 'write_file', input: SHORT, caller: 1 }] },
    ],
    [
      'as a block whose input is text, as from a stream',
      { content: [{ type: 'tool_use', id: 'c1', index: 1, input: TEXT }] },
      { content: [{ type: 'tool_use', id: 'c1', index: 1, input: JSON.stringify(SHORT) }] },
    ],
    [
      'as a part of Gemini',
      { content: [{ type: 'functionCall', functionCall: { name: 'write_file', args: ARGS } }] },
      { content: [{ type: 'functionCall', functionCall: { name: 'write_file', args: SHORT } }] },
    ],
    [
      'as JSON of Chat Completions',
      {
        additional_kwargs: {
          ...{ refusal: null, __openai_function_call_ids__: { c1: 'fc_1' } },
          tool_calls: [{ id: 'c1', type: 'function', function: { name: 'n', arguments: TEXT } }],
        },
      },
      {
        additional_kwargs: {
          ...{ refusal: null, __openai_function_call_ids__: { c1: 'fc_1' } },
          tool_calls: [
            {
              id: 'c1',
              type: 'function',
              function: { name: 'n', arguments: JSON.stringify(SHORT) },
            },
          ],
        },
      },
    ],
    [
      'as an item of Responses, behind reasoning',
      {
        response_metadata: {
          id: 'resp_1',
          output: [
            { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' },
            { type: 'function_call', id: 'fc_1', call_id: 'c1', arguments: TEXT, status: 'done' },
          ],
        },
      },
      {
        response_metadata: {
          id: 'resp_1',
          output: [
            { type: 'reasoning', id: 'rs_1', encrypted_content: 'x' },
            {
              ...{ type: 'function_call', id: 'fc_1', call_id: 'c1' },
              ...{ arguments: JSON.stringify(SHORT), status: 'done' },
            },
          ],
        },
      },
    ],
  ])('is changed %s, and nothing else is', (_, given, changed) => {
    const usage = { input_tokens: 1, output_tokens: 2, total_tokens: 3 };
    const fields = { id: 'a', name: 'n', content: 'hm', usage_metadata: usage, ...given };
    const message = aiMessageOf({ ...fields, tool_calls: [CALL] });
    const before = jsonOf(deepFreeze(message));
    const rewritten = shortened(message);
    const expected = { ...fields, ...changed, tool_calls: [{ ...CALL, args: SHORT }] };
    expect(JSON.parse(jsonOf(rewritten))).toEqual(JSON.parse(jsonOf(aiMessageOf(expected))));
    expect(rewritten.constructor).toBe(AIMessage);
    expect(jsonOf(message)).toBe(before);
  });

  it('is changed in the chunks of a streamed message, also when the message is loaded', async () => {
    const chunk = (args: string): object => ({ id: 'c1', name: 'write_file', args, index: 0 });
    const fields = { content: '', id: 'a', tool_call_chunks: [chunk(TEXT)] };
    const message = new AIMessageChunk(fields);
    const rewritten = shortened(message);
    expect(rewritten).toBeInstanceOf(AIMessageChunk);
    expect(rewritten.tool_call_chunks).toEqual([chunk(JSON.stringify(SHORT))]);
    expect(rewritten.tool_calls).toEqual([{ ...CALL, args: SHORT, type: 'tool_call' }]);
    const loaded = await load<AIMessageChunk>(JSON.stringify(rewritten));
    expect(loaded.tool_calls).toEqual(rewritten.tool_calls);
    expect(message.tool_calls?.[0]?.args).toEqual(ARGS);
  });

  it("is changed in the text of a custom tool, whose item's id is not the call's", () => {
    const item = { type: 'custom_tool_call', id: 'ctc_1', call_id: 'c1', input: LONG };
    const args = { input: LONG };
    const custom = { ...{ id: 'c1', call_id: 'ctc_1', name: 'apply_patch' }, input: LONG, args };
    const message = aiMessageOf({
      content: [{ type: 'tool_call', id: 'c1', name: 'apply_patch', args }],
      tool_calls: [{ ...custom, isCustomTool: true }],
      additional_kwargs: { tool_outputs: [item] },
      response_metadata: { output: [item] },
    });
    expect(callsOf(message)).toHaveLength(1);
    const rewritten = jsonOf(shortened(message, { input: 'short' }));
    expect(rewritten).toBe(jsonOf(message).replaceAll(LONG, 'short'));
  });

  it.each<[string, object]>([
    [
      'a block of it has other arguments, as LangChain 1.0 streams it',
      { content: [{ type: 'tool_call', id: 'c1', name: 'write_file', args: {} }] },
    ],
    [
      'its JSON is in pieces',
      {
        content: [
          { type: 'tool_use', id: 'c1', name: 'write_file', input: '', index: 1 },
          { type: 'input_json_delta', input: TEXT, index: 1 },
        ],
      },
    ],
    ['it is listed without arguments', { response_metadata: { output: [{ call_id: 'c1' }] } }],
    [
      'a provider has sealed data of it',
      { additional_kwargs: { reasoning_details: [{ type: 'reasoning.encrypted', id: 'c1' }] } },
    ],
    [
      'an item for which there is no type holds it',
      { content: [{ type: 'non_standard', value: { call_id: 'c1', input: LONG } }] },
    ],
    [
      'Gemini has signed it, by its id',
      { additional_kwargs: { __gemini_function_call_thought_signatures__: { c1: 's' } } },
    ],
    ['Gemini has signed it, by its place', { additional_kwargs: { signatures: ['s', ''] } }],
    [
      'Gemini has signed a part',
      {
        content: [
          {
            ...{ type: 'functionCall', thoughtSignature: 's' },
            functionCall: { name: 'write_file', args: ARGS },
          },
        ],
      },
    ],
  ])('is read as fixed, and not changed, if %s', (_, fields) => {
    const calls = callsOf(aiMessageOf({ content: '', ...fields, tool_calls: [CALL, OTHER] }));
    expect(calls.map(({ id }) => id)).toEqual(['c1', 'c2']);
    expect(calls[0]?.isFixed).toBe(true);
    expect(calls[1]?.isFixed).toBe(false);
  });

  it("is not changed if the provider's data throw, and the message is accepted", () => {
    const response_metadata = {
      get raw(): unknown {
        throw new Error('no');
      },
    };
    const message = aiMessageOf({ content: '', tool_calls: [CALL] });
    message.response_metadata = response_metadata;
    expect(callsOf(message)).toMatchObject([{ id: 'c1', isFixed: true }]);
  });

  it('is not changed in any place if the message has changed since it was read', () => {
    const message = aiMessageOf({ content: '', tool_calls: [CALL] });
    const [call] = callsOf(message);
    message.additional_kwargs['reasoning_details'] = [{ id: 'c1' }];
    const edit = { type: 'tool_call', id: 'c1', name: 'write_file', parameters: SHORT };
    const rewritten = format.rewrite(message, new Map([[call!.part, edit]]) as PartEdits);
    expect(jsonOf(rewritten)).toBe(jsonOf(message));
  });

  it('is changed without other calls of the same id', () => {
    const input = (content: string): object => ({ path: 'a.ts', content });
    const block = (content: string): object => ({
      type: 'tool_use',
      id: 'c1',
      input: input(content),
    });
    const call = (content: string): object => ({ ...CALL, args: input(content) });
    const message = aiMessageOf({
      content: [block(LONG), block('b')],
      tool_calls: [call(LONG), call('b')],
    });
    const rewritten = shortened(message);
    expect(rewritten.content).toEqual([block('left out'), block('b')]);
    expect(rewritten.tool_calls).toEqual([call('left out'), call('b')]);
  });

  it('is changed in random conversations, and nothing else is', () => {
    fc.assert(
      fc.property(arbitraryBaseMessages, fc.func(fc.boolean()), (messages, isSpent) => {
        const before = messages.map(jsonOf);
        const view = new MessageView(format);
        const entries = readInto(view, messages);
        const spent: string[] = [];
        const history = entries.map((entry) => {
          const blocks = entry.blocks.map((block) => {
            if (block.type !== 'tool_call' || !isSpent(block.id)) return block;
            expect(block.hasFixedParameters).toBeUndefined();
            spent.push(writtenBy(block.id));
            return { ...block, parameters: { ...asRecord(block.parameters), content: 'left out' } };
          });
          return blocks.some((block, at) => block !== entry.blocks[at])
            ? { ...entry, blocks }
            : entry;
        });
        runSlices(view.followInSlices(history));
        expect(view.current).toHaveLength(messages.length);
        const expected = before.map((text) =>
          spent.reduce((so, one) => so.replaceAll(one, 'left out'), text),
        );
        expect(view.current.map(jsonOf)).toEqual(expected);
        expect(messages.map(jsonOf)).toEqual(before);
        const again = readAll(format.createReader(), view.current, 0).entries;
        expect(again).toEqual(history);
      }),
    );
  });
});

describe('a call that is removed', () => {
  const removed = (fields: object): BaseMessage => {
    const message = aiMessageOf({ content: '', ...fields, tool_calls: [CALL, OTHER] });
    const rewritten = format.rewrite(message, new Map([[callsOf(message)[0]!.part, null]]));
    expect(rewritten).toMatchObject({ tool_calls: [OTHER] });
    return rewritten;
  };

  it("is removed from Gemini's parts, by their order where they have no ids", () => {
    const part = { type: 'functionCall', functionCall: { name: 'write_file', args: ARGS } };
    const text = { type: 'text', text: 'I write.' };
    const signed = { ...part, thoughtSignature: 's' };
    expect(removed({ content: [text, part, signed] }).content).toEqual([text, signed]);
  });

  it('keeps reasoning that also led to another call', () => {
    const output = [
      { type: 'reasoning', id: 'rs_1' },
      { type: 'function_call', id: 'fc_1', call_id: 'c1' },
      { type: 'function_call', id: 'fc_2', call_id: 'c2' },
    ];
    const { response_metadata: metadata } = removed({ response_metadata: { output } });
    expect(metadata).toEqual({ output: [output[0], output[2]] });
  });

  it('is removed with everything bound to it, wherever the provider keeps that', () => {
    const raw = ['c1', 'c2'].map((id) => ({ id, function: { name: 'n', arguments: TEXT } }));
    const sealed = [{ type: 'reasoning.encrypted', id: 'c1' }, { id: 'c2' }];
    const { additional_kwargs: extra } = removed({
      additional_kwargs: { tool_calls: raw, reasoning_details: sealed, signatures: ['', 's', ''] },
    });
    expect(extra).toEqual({
      ...{ tool_calls: [raw[1]], reasoning_details: [sealed[1]] },
      signatures: ['', ''],
    });
  });
});

describe('calls with an iterator of their own', () => {
  it('are read without it, because it may never end', () => {
    let isIterated = false;
    const call = { id: 'c', name: 'read_file', args: { file_path: 'a.ts' } };
    const message = aiMessageOf({ content: 'I read.', tool_calls: [call] });
    const iterator = (): Iterator<unknown> => {
      isIterated = true;
      return [][Symbol.iterator]();
    };
    Object.defineProperty(message.tool_calls, Symbol.iterator, { value: iterator });
    expect(readAll(format.createReader(), [message], 0).entries).toHaveLength(1);
    expect(isIterated).toBe(false);
  });
});
