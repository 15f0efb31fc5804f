// A host's catalog that does not fit the tools of its agent: reported once, and the tool is treated as unknown.

import { describe, expect, it, vi } from 'vitest';
import {
  aiContent,
  createCompactor,
  humanText,
  readsFile,
  runsCommands,
  searches,
  toolCall,
  toolContent,
  toolResponse,
  writesFile,
} from '../../../src/index.js';
import { messageCompactor } from '../../../src/ai-sdk.js';
import { catalogCheck } from '../../../src/main/preflight/catalog-check.js';
import type { IContent, Logger, ToolCatalog } from '../../../src/index.js';

const LONG = 'one line of a long file\n'.repeat(200);

function step(id: string, tool: string, parameters: object): IContent[] {
  return [aiContent([toolCall(id, tool, parameters)]), toolContent([toolResponse(id, tool, LONG)])];
}

/** Plays entries under a catalog; returns the log, and what was left. */
async function play(toolCatalog: ToolCatalog, entries: readonly IContent[]) {
  const warn = vi.fn<Logger['warn']>();
  const logger: Logger = { debug: () => undefined, warn, error: () => undefined };
  await using compactor = createCompactor({ offload: 'inline', contextLimit: 100_000, logger });
  const session = await compactor.createSession({ density: { toolCatalog }, edits: 'every-turn' });
  for (const entry of entries) {
    if (entry.speaker === 'ai') await session.ensureCompressionBeforeSend('p');
    session.history.add(entry);
  }
  await session.ensureCompressionBeforeSend('p');
  return {
    warnings: warn.mock.calls.map(([, details]) => details),
    left: session.history.getAll(),
  };
}

describe('a catalog that does not fit the calls of a tool', () => {
  it('is reported once per tool, with what was expected, and without the content of the calls', async () => {
    const calls = ['1', '2', '3'].flatMap((id) => [
      ...step(`r${id}`, 'Read', { file_path: 'secret.ts' }),
      ...step(`b${id}`, 'Bash', { session: 'secret' }),
      ...step(`w${id}`, 'Write', { target: 'secret', text: 'secret' }),
    ]);
    const catalog = {
      Read: readsFile('whole', ['path', 'file']),
      Bash: runsCommands(),
      Write: writesFile('whole'),
    };
    const { warnings } = await play(catalog, [humanText('go'), ...calls]);
    expect(warnings).toEqual([
      { tool: 'Read', access: 'read', expected: ['path', 'file'] },
      { tool: 'Write', access: 'write', expected: ['file_path', 'absolute_path', 'path'] },
    ]);
  });

  it('has its tool treated as one that no catalog names', async () => {
    const entries = [
      humanText('go'),
      ...Array.from({ length: 12 }, (_, at) => step(`${at}`, 'Save', { target: 'a.ts' })).flat(),
    ];
    const wrong = await play({ Save: writesFile('whole', ['file_path']) }, entries);
    const unknown = await play({}, entries);
    expect(wrong.left).toEqual(unknown.left);
    expect([wrong.warnings.length, unknown.warnings.length]).toEqual([1, 0]);
  });

  it('reports nothing for calls that fit, have no parameters, or belong to another use', async () => {
    const catalog: ToolCatalog = {
      Read: readsFile('whole', ['path', 'file_path']),
      Find: searches(),
      Open: readsFile('whole', ['path']),
      Edit: [{ access: 'write', extent: 'part', pathKeys: ['path'], has: ['path'] }],
    };
    const { warnings } = await play(catalog, [
      humanText('go'),
      ...step('1', 'Read', { file_path: 'a.ts' }),
      ...step('2', 'Find', { anything: 'x' }),
      ...step('3', 'Open', {}),
      ...step('4', 'Edit', { buffer: 1 }),
      ...step('5', 'Other', { x: 1 }),
    ]);
    expect(warnings).toEqual([]);
  });

  it('fails no call of an adapter', async () => {
    await using compactor = createCompactor({ offload: 'inline' });
    const toolCatalog = { Read: readsFile('whole', ['path']) };
    const compact = messageCompactor(compactor, { density: { toolCatalog }, onError: 'throw' });
    const call = { type: 'tool-call', toolCallId: '1', toolName: 'Read', input: { uri: 'a' } };
    const output = { type: 'text', value: LONG };
    const result = { type: 'tool-result', toolCallId: '1', toolName: 'Read', output };
    const messages = [
      { role: 'user', content: 'go' },
      { role: 'assistant', content: [call] },
      { role: 'tool', content: [result] },
    ];
    expect(await compact(messages as never)).toEqual(messages);
  });
});

describe('catalogCheck', () => {
  it('looks at each entry once, also at the first', () => {
    const warn = vi.fn<Logger['warn']>();
    const logger: Logger = { debug: () => undefined, warn, error: () => undefined };
    let looks = 0;
    const looked = (entry: IContent): IContent => ({
      speaker: entry.speaker,
      get blocks() {
        looks += 1;
        return entry.blocks;
      },
    });
    const calls = ['1', '2', '3'].flatMap((id) => step(id, `Read${id}`, { uri: 'a' }));
    const entries = calls.map(looked);
    const use = readsFile('whole', ['path']);
    const catalog = { Read1: use, Read2: use, Read3: use };
    const check = catalogCheck(catalog, logger);
    for (let end = 1; end <= entries.length; end += 1) check(entries.slice(0, end));
    expect(looks).toBe(entries.length);
    expect(warn.mock.calls.map(([, details]) => details)).toMatchObject([
      { tool: 'Read1' },
      { tool: 'Read2' },
      { tool: 'Read3' },
    ]);
  });
});
