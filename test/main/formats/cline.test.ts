import { describe, expect, it } from 'vitest';
import { aiContent, toolCall, toolContent, toolResponse } from '../../../src/shared/content.js';
import { readJson } from './reading.js';

describe('readClineMessage', () => {
  it('reads calls, outcomes and metadata, and keeps the content of an included file as a separate part', async () => {
    const failed = '{"query":"edit:/a","result":"","error":"No match\\nat all","success":false}';
    const read = [{ query: '/a', result: 'code', success: true }];
    const { entries, format, warnings } = await readJson({
      version: 1,
      messages: [
        {
          role: 'user',
          id: 'u',
          ts: 1_750_000_000_000,
          content: [
            { type: 'text', text: 'fix @a' },
            { type: 'file', path: '/a', content: 'code' },
          ],
        },
        {
          role: 'assistant',
          content: [
            { type: 'tool_use', id: 'e', name: 'editor', input: { path: '/a' } },
            { type: 'tool_use', id: 'r', name: 'read_files', input: {} },
          ],
          modelInfo: { id: 'opus', provider: 'cline' },
          metrics: { outputTokens: 3 },
        },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'e', content: failed },
            { type: 'tool_result', tool_use_id: 'r', content: read },
          ],
        },
      ],
    });
    expect({ format, warnings }).toEqual({ format: 'cline', warnings: [] });
    expect(entries).toEqual([
      {
        speaker: 'human',
        blocks: [
          { type: 'text', text: 'fix @a' },
          { type: 'text', text: '--- Content from referenced files ---' },
          { type: 'text', text: 'Content from @/a:' },
          { type: 'text', text: 'code' },
          { type: 'text', text: '--- End of content ---' },
        ],
        metadata: { timestamp: 1_750_000_000_000, id: 'u' },
      },
      aiContent([toolCall('e', 'editor', { path: '/a' }), toolCall('r', 'read_files', {})], {
        model: 'opus',
        provider: 'cline',
        usage: { outputTokens: 3 },
      }),
      toolContent([
        toolResponse('e', 'editor', failed, 'No match'),
        toolResponse('r', 'read_files', read),
      ]),
    ]);
  });

  it('reads the bare array of older versions', async () => {
    const { format, entries } = await readJson([
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'f', input: {} }] },
      { role: 'system', content: 'x' },
    ]);
    expect({ format, entries }).toEqual({
      format: 'cline',
      entries: [aiContent([toolCall('a', 'f', {})])],
    });
  });
});
