// The generated figures in a page of the documentation.

import path from 'node:path';
import { check } from 'prettier';
import { describe, expect, it } from 'vitest';
import { figuresPart, withParts } from '../../../bench/fidelity/figures-page.js';
import { BATCHED_POLICY, OWN_POLICY, POLICIES } from '../../../bench/fidelity/policies.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import { reportFidelity } from '../../../bench/fidelity/report.js';
import type { FidelityReport } from '../../../bench/fidelity/report.js';
import { readTranscript } from '../../../src/transcripts.js';
import { length } from '../../support/scale.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/transcripts');
const CLAUDE = path.join(FIXTURES, 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl');
const CODEX = path.join(FIXTURES, 'codex/jdx-mise__71-b56c467073-0.jsonl');
const PAGE = '# Fidelity\n\nBefore.\n\n<!-- figures -->\n\nold\n\n<!-- /figures -->\n\n## Behind\n';

const report = reportFidelity(
  await Promise.all(
    [CLAUDE, CODEX].map(async (file) => {
      const { entries, ...transcript } = await readTranscript(file);
      return recordSession(file, {
        ...transcript,
        entries: entries.slice(0, length(entries.length)),
      });
    }),
  ),
  [],
);

/** The report in which the default working set loses an edit. */
function losing(source: string, file: string): FidelityReport {
  const lost = { source, entry: 7, callId: '1', tool: 'Edit', file, lineCount: 3, missing: ['a'] };
  const groups = report.groups.map((group) => {
    const policies = group.policies.map((policy) => {
      return { ...policy, atRisk: policy.policy === OWN_POLICY ? [lost] : [] };
    });
    return { ...group, policies };
  });
  return { ...report, groups };
}

function withFigures(page: string, shown: FidelityReport): string {
  return withParts(page, { figures: figuresPart(shown) });
}

describe('withParts', () => {
  const page = withFigures(PAGE, report);

  it('only writes between the marks', () => {
    expect(page).toMatch(/^# Fidelity\n\nBefore\.\n\n<!-- figures -->\n\n/);
    expect(page).toMatch(/\n\n<!-- \/figures -->\n\n## Behind\n$/);
    expect(page).not.toContain('old\n');
    expect(withFigures(page, report)).toBe(page);
  });

  it('has a table for all formats together, and one of the default by format, formatted like Prettier does', async () => {
    const [ofPolicies = ''] = page.split('### What stays');
    const heads = ofPolicies.match(/^### .*/gm);
    expect(heads).toEqual(['### claude-code + codex', `### By format, ${BATCHED_POLICY}`]);
    const rows = ofPolicies.match(/^\| (?!policy|format|-).*? (?= *\|)/gm);
    const names = rows?.map((cell) => cell.slice(2).trim());
    expect(names).toEqual([...POLICIES.map(({ name }) => name), 'claude-code', 'codex']);
    expect(await check(page, { parser: 'markdown', singleQuote: true, printWidth: 100 })).toBe(
      true,
    );
  });

  it('has a table of needs for the default', () => {
    const heads = page.match(/^### What stays in view, .*/gm);
    expect(heads).toEqual([`### What stays in view, ${BATCHED_POLICY}`]);
    expect(page.match(/^\| user’s words /gm)).toHaveLength(1);
  });

  it('lists the edits that the default working set loses, by file names, as plain text', async () => {
    const listed = withFigures(PAGE, losing('/home/me/a`b.jsonl', '/repo/src/a.ts'));
    expect(listed).toContain('- `a b.jsonl`, entry 7, `Edit` of `a.ts`: 1 of 3 lines\n');
    expect(await check(listed, { parser: 'markdown', singleQuote: true, printWidth: 100 })).toBe(
      true,
    );
  });

  it('refuses a page without marks', () => {
    expect(() => withFigures('# Fidelity\n', report)).toThrow(RangeError);
    expect(() => withFigures('<!-- /figures --> <!-- figures -->', report)).toThrow(RangeError);
  });
});
