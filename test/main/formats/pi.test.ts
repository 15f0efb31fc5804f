import { describe, expect, it } from 'vitest';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import { bare, readLines } from './reading.js';

const HEADER = {
  type: 'session',
  version: 3,
  id: 's',
  timestamp: '2026-01-01T00:00:00Z',
  cwd: '/w',
};

let count = 0;

/** An entry whose parent is the entry made last, or `parentId`. */
function entry(type: string, fields: object, parentId?: string): { readonly id: string } {
  const before = count === 0 ? null : `e${count}`;
  count += 1;
  const timestamp = '2026-01-01T00:00:01Z';
  return { type, id: `e${count}`, parentId: parentId ?? before, timestamp, ...fields } as {
    id: string;
  };
}

function session(make: () => readonly object[]): readonly object[] {
  count = 0;
  return [HEADER, ...make()];
}

const say = (role: string, text: string, parentId?: string) =>
  entry('message', { message: { role, content: [{ type: 'text', text }] } }, parentId);

const call = (id: string, name = 'read') =>
  entry('message', {
    message: {
      role: 'assistant',
      model: 'm',
      provider: 'p',
      usage: { input: 1 },
      content: [
        { type: 'thinking', thinking: 'hm', thinkingSignature: 's' },
        { type: 'toolCall', id, name, arguments: { path: 'x' } },
      ],
    },
  });

const answer = (toolCallId: string, text = 'ok', isError = false) =>
  entry('message', {
    message: {
      role: 'toolResult',
      toolCallId,
      toolName: 'read',
      isError,
      content: [{ type: 'text', text }],
    },
  });

const called = (id: string) =>
  aiContent([
    { type: 'thinking', thought: 'hm', signature: 's' },
    toolCall(id, 'read', { path: 'x' }),
  ]);

describe('PI', () => {
  it("reads messages, calls and results, and the agent's directory", async () => {
    const { format, workspaceRoot, entries, warnings } = await readLines(
      session(() => [
        entry('model_change', { provider: 'p', modelId: 'm' }),
        say('user', 'look'),
        call('a'),
        answer('a', 'not there\nat all', true),
        say('assistant', 'it is gone'),
      ]),
    );
    expect([format, workspaceRoot, warnings]).toEqual(['pi', '/w', []]);
    expect(bare(entries)).toEqual([
      ...bare([humanText('look')]),
      called('a'),
      toolContent([toolResponse('a', 'read', 'not there\nat all', 'not there')]),
      aiContent([{ type: 'text', text: 'it is gone' }]),
    ]);
    expect(entries[1]?.metadata).toEqual({
      timestamp: Date.parse('2026-01-01T00:00:01Z'),
      model: 'm',
      provider: 'p',
      usage: { input: 1 },
    });
  });

  it('starts a context with the summary and what is kept', async () => {
    const { entries, contextStarts, warnings } = await readLines(
      session(() => {
        const first = [say('user', 'one'), call('a'), answer('a')];
        const kept = [say('user', 'two'), call('b'), answer('b')];
        const compaction = entry('compaction', {
          summary: 'what was',
          firstKeptEntryId: kept[0]?.id,
          tokensBefore: 9,
        });
        return [...first, ...kept, compaction, say('assistant', 'done')];
      }),
    );
    expect([contextStarts, warnings]).toEqual([[6], []]);
    expect(entries[6]?.metadata?.isSummary).toBe(true);
    const kept = entries.map(({ metadata }) => metadata?.isKept === true);
    expect(kept).toEqual([...Array<boolean>(7).fill(false), true, true, true, false]);
    expect(bare(entries.slice(6))).toEqual([
      ...bare([humanText('what was'), humanText('two')]),
      called('b#2'),
      toolContent([toolResponse('b#2', 'read', 'ok')]),
      aiContent([{ type: 'text', text: 'done' }]),
    ]);
  });

  it('omits the branch that the session went back from', async () => {
    const { entries, warnings } = await readLines(
      session(() => {
        const root = say('user', 'one');
        return [
          root,
          say('assistant', 'wrong'),
          say('user', 'no'),
          say('assistant', 'right', root.id),
        ];
      }),
    );
    expect(bare(entries)).toEqual([
      ...bare([humanText('one')]),
      aiContent([{ type: 'text', text: 'right' }]),
    ]);
    expect(warnings).toEqual([
      { message: 'entries of branches that the session went back from, left out: 2' },
    ]);
  });

  it('follows a branch through entries that are not read', async () => {
    const { entries, warnings } = await readLines(
      session(() => [
        entry('message', { message: { role: 'system', content: '', sections: { cwd: '/w' } } }),
        say('user', 'one'),
        entry('usage', { kind: 'cache_warm', usage: { input: 1 } }),
        say('assistant', 'two'),
        entry('invented', {}),
        say('user', 'three'),
      ]),
    );
    expect(bare(entries)).toEqual([
      ...bare([humanText('one')]),
      aiContent([{ type: 'text', text: 'two' }]),
      ...bare([humanText('three')]),
    ]);
    expect(warnings).toEqual([{ message: 'records of the unknown type "invented" left out: 1' }]);
  });

  it('keeps what the compaction of a session without ids kept', async () => {
    const records = session(() => [
      say('user', 'one'),
      say('user', 'two'),
      entry('compaction', { summary: 'what was', firstKeptEntryIndex: 2, tokensBefore: 9 }),
      say('hookMessage', 'three'),
    ]).map(({ id: _, parentId: __, ...record }: { id?: string; parentId?: string }) => record);
    const { entries, contextStarts, warnings } = await readLines(records);
    expect([contextStarts, warnings]).toEqual([[2], []]);
    expect(bare(entries.slice(2))).toEqual(
      bare([humanText('what was'), humanText('two'), humanText('three')]),
    );
  });

  it('reads a session whose entries form a cycle', async () => {
    const { entries } = await readLines(
      session(() => [say('user', 'one', 'e2'), say('assistant', 'two', 'e1')]),
    );
    expect(entries).toHaveLength(2);
  });
});

describe('text that pi adds in the name of the user', () => {
  it('is read as it was sent to the model, and marked', async () => {
    const message = (fields: object) => entry('message', { message: fields });
    const { entries, warnings } = await readLines(
      session(() => [
        message({ role: 'bashExecution', command: 'ls', output: 'a.ts' }),
        message({ role: 'bashExecution', command: 'env', output: 'x', excludeFromContext: true }),
        message({ role: 'hookMessage', content: 'from a hook' }),
        message({
          role: 'custom',
          content: [{ type: 'image', data: 'AA==', mimeType: 'image/png' }],
        }),
        message({ role: 'system', content: 'the prompt' }),
        entry('custom_message', { content: 'from an extension' }),
        entry('branch_summary', { summary: 'the other branch' }),
        message({ role: 'narrator', content: 'x' }),
      ]),
    );
    expect(entries.map(({ blocks: [block], metadata }) => [block, metadata])).toMatchObject([
      [{ text: 'Ran `ls`\na.ts' }, {}],
      [{ text: 'from a hook' }, { synthetic: true }],
      [{ data: 'AA==', mimeType: 'image/png', encoding: 'base64' }, { synthetic: true }],
      [{ text: 'from an extension' }, { synthetic: true }],
      [{ text: 'the other branch' }, { isSummary: true }],
    ]);
    expect(entries[0]?.metadata).not.toHaveProperty('synthetic');
    expect(warnings).toEqual([{ message: 'messages of the unknown role "narrator" left out: 1' }]);
  });
});
