import { describe, expect, it } from 'vitest';
import { DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { DEFAULT_WORKING_SET } from '../../../src/shared/density/rules/working-set-rules.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { agentPreset } from '../../../src/main/formats/presets.js';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import { TRANSCRIPT_FORMATS } from '../../../src/main/formats/transcript.js';

const REPOSITORY = new URL('../../../', import.meta.url).pathname;

async function supersededReads(file: string): Promise<number> {
  const { entries, preset, workspaceRoot } = await readTranscript(`${REPOSITORY}${file}`);
  const config = {
    ...DEFAULT_DENSITY_CONFIG,
    ...preset,
    workspaceRoot: workspaceRoot ?? '/',
    // Otherwise the working set decides what an edit leaves of them.
    partialWritesSupersede: true,
  };
  return optimize(entries, config).metadata.readWritePairsPruned;
}

describe('agentPreset', () => {
  it.each(TRANSCRIPT_FORMATS)('knows %s', (format) => {
    expect(Object.keys(agentPreset(format))).toContain('toolCatalog');
    expect(agentPreset(format).workingSet).toBe(DEFAULT_WORKING_SET);
  });

  it.each([
    ['examples/sessions/claude-code-pr-review.jsonl', 13],
    ['test/fixtures/transcripts/claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl', 8],
    ['test/fixtures/transcripts/openai-chat/openhands-sampled__python__mypy-15976_0.json', 8],
    ['test/fixtures/transcripts/swe-agent/humanevalfix-python-0.traj', 1],
  ])('finds the superseded reads of %s', async (file, count) => {
    expect(await supersededReads(file)).toBe(count);
  });
});
