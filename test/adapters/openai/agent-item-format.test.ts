// How items of the Agents SDK are read as entries, and edited.

import type { AgentInputItem } from '@openai/agents';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { REMOVED_SCREENSHOT } from '../../../src/adapters/format/screenshot.js';
import { agentItemFormat } from '../../../src/adapters/openai/agent-item-format.js';
import { responseItemFormat } from '../../../src/adapters/openai/response-item-format.js';
import { assertIngestible } from '../../../src/shared/ingestion.js';
import { humanText } from '../../../src/shared/content.js';
import type { ContentBlock } from '../../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../../src/shared/tokens/content-text.js';
import { arbitraryTalk } from './arbitrary-talks.js';
import { arbitraryEdits, editTalk, SHRUNK } from './edited-talk.js';
import { findProblems, keyOf } from './item-talks.js';
import type { Item } from './item-talks.js';
import { readAll } from '../../support/read-all.js';

function read(...items: readonly AgentInputItem[]): readonly unknown[] {
  const { entries } = readAll(agentItemFormat.createReader(), items, 0);
  return entries.map(({ speaker, blocks }) => [
    speaker,
    ...blocks.map(({ origin: [message, part], ...block }) => [`${message}.${part}`, block]),
  ]);
}

const REASONING: AgentInputItem = {
  type: 'reasoning',
  id: 'rs_1',
  content: [{ type: 'input_text', text: 'first' }],
  providerData: { encrypted_content: 'sealed' },
};
const CALL = {
  type: 'function_call',
  callId: 'c1',
  name: 'read_file',
  arguments: '{"path":"a.ts"}',
} as const;
const RESULT = {
  type: 'function_call_result',
  name: 'read_file',
  callId: 'c1',
  status: 'completed',
  output: { type: 'text', text: 'long' },
} as const;
const ANSWER = {
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: 'Done.' }],
} as const satisfies AgentInputItem;
const CALL_BLOCK = { type: 'tool_call', id: 'c1', name: 'read_file', parameters: { path: 'a.ts' } };
const RESULT_BLOCK = {
  type: 'tool_response',
  callId: 'c1',
  toolName: 'read_file',
  result: 'long',
  isComplete: true,
};

function hosted(kind: string): AgentInputItem {
  return { type: 'hosted_tool_call', id: 'h1', name: kind, providerData: { type: kind } };
}

describe('agentItemFormat', () => {
  it('reads consecutive items of the model as one entry', () => {
    expect(read({ role: 'user', content: 'go' }, REASONING, CALL, RESULT)).toEqual([
      ['human', ['0.0', { type: 'text', text: 'go' }]],
      [
        'ai',
        [
          '1.0',
          {
            type: 'thinking',
            thought: 'first',
            sourceField: 'reasoning',
            signature: 'rs_1',
            encryptedContent: 'sealed',
          },
        ],
        ['2.0', CALL_BLOCK],
      ],
      ['tool', ['3.0', RESULT_BLOCK]],
    ]);
  });

  it('reads a compaction as one', () => {
    const compaction = { type: 'compaction', encrypted_content: 'sealed', providerData: { a: 1 } };
    expect(read(compaction as AgentInputItem)).toMatchObject([
      ['ai', ['0.0', { type: 'opaque', kind: 'compaction' }]],
    ]);
  });

  it("recognizes a failed tool by the SDK's error text", () => {
    const answer = 'An error occurred while running the tool. Please try again. Error: no file';
    expect(read(CALL, { ...RESULT, output: answer })).toMatchObject([
      ['ai', ['0.0', CALL_BLOCK]],
      ['tool', ['1.0', { error: answer }]],
    ]);
  });

  it.each<[string, boolean, AgentInputItem, AgentInputItem]>([
    [
      'a call',
      true,
      { ...CALL, id: 'fc_1' },
      { ...CALL, id: 'fc_2', providerData: { id: 'fc_2' } },
    ],
    ['another call', false, { ...CALL, id: 'fc_1' }, { ...CALL, id: 'fc_1', callId: 'c2' }],
    ['a result', true, RESULT, { ...RESULT, id: 'fco_1', name: 'c1', output: 'long' }],
    ['another result', false, RESULT, { ...RESULT, output: 'longer' }],
    [
      'a message of the user',
      true,
      { role: 'user', content: 'go' },
      { type: 'message', id: 'msg_1', role: 'user', content: [{ type: 'input_text', text: 'go' }] },
    ],
    ['another message', false, { role: 'user', content: 'go' }, { role: 'user', content: 'on' }],
    [
      'an answer',
      true,
      { ...ANSWER, id: 'msg_1', providerData: { phase: 'commentary' } },
      { ...ANSWER, phase: 'commentary' },
    ],
    ['another reference', false, { type: 'unknown', id: 'rs_1' }, { type: 'unknown', id: 'rs_2' }],
    ['another item without a type', false, { id: 'rs_1' } as never, { id: 'rs_2' } as never],
  ])('compares items that a session has rebuilt: %s', (_, isSame, given, stored) => {
    expect(agentItemFormat.isSame(given, stored)).toBe(isSame);
  });

  it('keeps no bytes of an image that a tool returned', () => {
    const image = { type: 'image', image: { data: new Uint8Array(9), mediaType: 'image/png' } };
    const items = [CALL, { ...RESULT, output: image }];
    const { entries } = readAll(agentItemFormat.createReader(), items, 0);
    expect(entries[1]?.blocks).toMatchObject([
      { result: [{ type: 'image' }], mediaTokens: IMAGE_TOKENS },
    ]);
    entries.forEach((entry, at) => assertIngestible(entry, at));
    expect(agentItemFormat.isSame(items[1]!, structuredClone(items[1]!))).toBe(true);
  });

  it.each(['web_search_call', 'file_search_call', 'code_interpreter_call', 'mcp_list_tools'])(
    'reads a hosted %s as opaque',
    (kind) => {
      expect(read(hosted(kind))).toMatchObject([['ai', ['0.0', { type: 'opaque', kind }]]]);
    },
  );

  it.each([
    ['a hosted approval', hosted('mcp_approval_request')],
    ['a custom tool call, which the SDK does not know', unknown('custom_tool_call')],
    ['a compaction that holds nothing', { type: 'compaction', encrypted_content: '' } as const],
    ['a patch', { type: 'apply_patch_call', callId: 'p1' } as AgentInputItem],
  ])('pins %s with the consecutive items of the model', (_, item) => {
    expect(read(REASONING, CALL, item, RESULT)).toEqual([]);
  });

  it('pins the answer to an approval, and not the items behind it', () => {
    expect(read(hosted('mcp_approval_response'), CALL)).toEqual([['ai', ['1.0', CALL_BLOCK]]]);
  });

  it('writes a result in the form of its output', () => {
    const edits = new Map([[0, { ...RESULT_BLOCK, result: 'short' } as ContentBlock]]);
    expect(agentItemFormat.rewrite(RESULT, edits)).toEqual({
      ...RESULT,
      output: { type: 'text', text: 'short' },
    });
    const image = { ...RESULT, output: { type: 'image', image: 'data:' } };
    expect(agentItemFormat.rewrite(image, edits)).toEqual({
      ...RESULT,
      output: { type: 'text', text: 'short' },
    });
  });

  it('writes entries of its own as messages', () => {
    expect(agentItemFormat.write(humanText('so far'), [])).toEqual({
      type: 'message',
      role: 'user',
      content: 'so far',
    });
    expect(
      agentItemFormat.write({ speaker: 'ai', blocks: [{ type: 'text', text: 'so far' }] }, []),
    ).toEqual({
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'so far' }],
    });
  });

  it('reads a conversation like the format of the Responses API', () => {
    fc.assert(
      fc.property(arbitraryTalk, ({ agents, responses }) => {
        const shape = ({ speaker, blocks }: { speaker: string; blocks: readonly object[] }) => [
          speaker,
          ...blocks.map((block) => ('origin' in block ? block.origin : undefined)),
        ];
        const { entries } = readAll(agentItemFormat.createReader(), agents, 0);
        const expected = readAll(responseItemFormat.createReader(), responses, 0).entries;
        expect(entries.map(shape)).toEqual(expected.map(shape));
      }),
    );
  });

  it('keeps or removes items that belong together, and changes nothing but edited outputs', () => {
    fc.assert(
      fc.property(arbitraryTalk, arbitraryEdits, ({ agents }, edits) => {
        const given = agents as unknown as readonly Item[];
        const { standing } = editTalk<object>(agentItemFormat, agents, edits);
        expect(findProblems(standing as readonly Item[], given)).toEqual([]);
        const formers = new Map(given.map((item) => [keyOf(item), item]));
        for (const item of standing as readonly Item[]) {
          const former = formers.get(keyOf(item));
          if (item === former) continue;
          const output =
            item['type'] === 'computer_call_result'
              ? { type: 'computer_screenshot', data: REMOVED_SCREENSHOT }
              : { type: 'text', text: SHRUNK, providerData: { kept: true } };
          expect(item).toEqual({ ...former, output });
        }
      }),
    );
  });
});

function unknown(type: string): AgentInputItem {
  return { type: 'unknown', providerData: { type, call_id: 'c9' } };
}
