// The settings of Anthropic's context editing.

import type Anthropic from '@anthropic-ai/sdk';
import { describe, expect, it } from 'vitest';

import { contextEdits } from '../../../src/adapters/anthropic/context-edits.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';

async function editsOf(options: CompactorOptions, overheadTokens?: number) {
  await using compactor = createCompactor({ offload: 'inline', contextLimit: 200_000, ...options });
  return contextEdits(await compactor.createSession(), overheadTokens);
}

describe('contextEdits', () => {
  it('keeps reads, and clears the rest when that pays for the lost cache', async () => {
    const config = await editsOf({}, 7_000);
    // In the type of the SDK.
    const { edits } = config satisfies Anthropic.Beta.BetaContextManagementConfig;
    expect(edits).toEqual([
      {
        type: 'clear_tool_uses_20250919',
        trigger: { type: 'input_tokens', value: 17_000 },
        keep: { type: 'tool_uses', value: 5 },
        clear_at_least: { type: 'input_tokens', value: 12_500 },
        exclude_tools: expect.arrayContaining(['Read', 'read_file']) as string[],
        clear_tool_inputs: false,
      },
    ]);
    expect(edits[0]?.exclude_tools).not.toContain('Bash');
    expect(edits[0]?.exclude_tools).not.toContain('Edit');
  });

  it('clears by recency without a working set, and nothing without either', async () => {
    expect(await editsOf({ preset: 'specification' })).toEqual({ edits: [] });
    const settings = { 'compression.density.recencyPruning': true } as const;
    expect(await editsOf({ preset: 'specification', settings })).toMatchObject({
      edits: [{ keep: { type: 'tool_uses', value: 3 } }],
    });
  });
});
