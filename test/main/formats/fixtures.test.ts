import { describe, expect, it } from 'vitest';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import { pairingFaults } from './reading.js';

const REPOSITORY = new URL('../../../', import.meta.url).pathname;

/** file, format, then entries of humans, models and tools, calls, responses, failures, warnings. */
const FIXTURES = [
  ['claude-code/0ccf1a04-session.jsonl', 'claude-code', 15, 11, 4, 7, 7, 1, 1],
  ['claude-code/0ccf1a04-subagent-a9cad17.jsonl', 'claude-code', 1, 2, 1, 1, 1, 0, 0],
  ['claude-code/edit-tool-variants.jsonl', 'claude-code', 1, 4, 4, 4, 4, 0, 0],
  ['claude-code/read-tool-variants.jsonl', 'claude-code', 1, 5, 4, 4, 4, 0, 0],
  ['claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl', 'claude-code', 2, 66, 64, 66, 66, 8, 0],
  [
    '../../../examples/sessions/claude-code-pr-review.jsonl',
    'claude-code',
    5,
    38,
    34,
    51,
    51,
    6,
    1,
  ],
  ['codex/jdx-mise__71-b56c467073-0.jsonl', 'codex', 4, 32, 30, 54, 54, 0, 0],
  ['gemini-cli/session-2025-12-30T06-53-7bc58f7d.json', 'gemini-cli', 2, 15, 12, 12, 12, 0, 0],
  [
    'openai-chat/openhands-sampled__python__mypy-15976_0.json',
    'openai-chat',
    4,
    17,
    14,
    21,
    20,
    4,
    0,
  ],
  [
    'openai-chat/swe-smith__arrow-py__arrow.1d70d009.lm_rewrite__nuzjfyur.json',
    'openai-chat',
    2,
    15,
    14,
    15,
    14,
    0,
    0,
  ],
  ['swe-agent/crypto__BabyEncryption.traj', 'swe-agent', 2, 15, 14, 15, 14, 2, 0],
  ['swe-agent/humanevalfix-python-0.traj', 'swe-agent', 2, 5, 4, 5, 4, 0, 0],
  ['swe-agent/marshmallow-1867-function-calling.traj', 'swe-agent', 2, 11, 11, 11, 11, 1, 0],
  ['mini-swe-agent/pydata__xarray-7229.traj.json', 'mini-swe-agent', 4, 45, 43, 43, 43, 0, 0],
  ['cline/session.messages.json', 'cline', 5, 16, 11, 11, 11, 0, 0],
] as const;

describe('readTranscript', () => {
  it.each(FIXTURES)('reads the recorded session %s', async (file, ...expected) => {
    const { format, entries, warnings } = await readTranscript(
      `${REPOSITORY}test/fixtures/transcripts/${file}`,
    );
    const blocks = entries.flatMap((entry) => entry.blocks);
    const responses = blocks.filter((block) => block.type === 'tool_response');
    expect(pairingFaults(entries)).toEqual([]);
    expect([
      format,
      entries.filter(({ speaker }) => speaker === 'human').length,
      entries.filter(({ speaker }) => speaker === 'ai').length,
      entries.filter(({ speaker }) => speaker === 'tool').length,
      blocks.filter((block) => block.type === 'tool_call').length,
      responses.length,
      responses.filter(({ error }) => error !== undefined).length,
      warnings.length,
    ]).toEqual(expected);
  });
});
