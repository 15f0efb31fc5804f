// The report over several sessions, as data and as text.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { measure } from '../../../bench/fidelity/measure.js';
import type { Figures } from '../../../bench/fidelity/measure.js';
import { POLICIES } from '../../../bench/fidelity/policies.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import type { RecordedSession } from '../../../bench/fidelity/recorded-session.js';
import { renderFidelity } from '../../../bench/fidelity/render.js';
import { mainGroup, reportFidelity } from '../../../bench/fidelity/report.js';
import { readTranscript } from '../../../src/transcripts.js';
import { length } from '../../support/scale.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/transcripts');

async function fixture(name: string): Promise<RecordedSession> {
  const transcript = await readTranscript(path.join(FIXTURES, name));
  const entries = transcript.entries.slice(0, length(transcript.entries.length));
  return recordSession(name, { ...transcript, entries });
}

const claude = await fixture('claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl');
const codex = await fixture('codex/jdx-mise__71-b56c467073-0.jsonl');
const cline = await fixture('cline/session.messages.json');
const report = reportFidelity([codex, claude], ['notes.txt']);
const ofClaude = reportFidelity([claude], []);

describe('reportFidelity', () => {
  it('has a group of all sessions, with the sums of their counts', () => {
    const [all, targets, ...formats] = report.groups;
    expect(formats.map(({ group }) => group)).toEqual(['claude-code', 'codex']);
    expect(targets).toEqual({ ...all, group: 'claude-code + codex' });
    expect([all?.group, all?.sessions]).toEqual(['all', 2]);
    expect(all?.edits).toBe(claude.edits.length + codex.edits.length);
    for (const [at, policy] of all?.policies.entries() ?? []) {
      const parts = [claude, codex].map((session) => measure(session, POLICIES[at]!));
      expect(formats.map(({ policies }) => policies[at])).toMatchObject(parts);
      const sum = (of: (part: Figures) => number): number =>
        parts.reduce((total, part) => total + of(part), 0);
      expect(policy.tokens).toBe(sum(({ tokens }) => tokens));
      expect(policy.cacheRewrites).toBe(sum(({ cacheRewrites }) => cacheRewrites));
      expect(policy.prefixChanges).toBe(sum(({ prefixChanges }) => prefixChanges));
      expect(policy.rewrittenTokens).toBe(sum(({ rewrittenTokens }) => rewrittenTokens));
      expect(policy.inputCost).toBeCloseTo(
        sum(({ inputCost }) => inputCost),
        4,
      );
      expect(policy.cost).toBe(policy.inputCost / report.groups[0]!.policies[0]!.inputCost);
      expect(policy.atRisk.length).toBe(sum(({ atRisk }) => atRisk.length));
      expect(policy.retained).toBe(1 - policy.atRisk.length / policy.edits);
      expect(policy.saved).toBe(1 - policy.tokens / policy.unpruned.tokens);
    }
  });

  it('charts the target formats together if all of them are present', () => {
    const one = reportFidelity([claude, cline], []);
    expect(mainGroup(report)?.group).toBe('claude-code + codex');
    expect([mainGroup(one)?.group, mainGroup(ofClaude)?.group]).toEqual(['all', 'all']);
  });

  it('is plain data', () => {
    expect(JSON.parse(JSON.stringify(report))).toEqual(report);
  });
});

describe('renderFidelity', () => {
  it('prints a table of all sessions, one of the target formats and one per format, and names skipped files', () => {
    const text = renderFidelity(reportFidelity([codex, claude, cline], ['notes.txt']), false);
    expect(text.match(/^.*: \d+ sessions?, /gm)).toEqual([
      'All formats: 3 sessions, ',
      'claude-code + codex: 2 sessions, ',
      'claude-code: 1 session, ',
      'cline: 1 session, ',
      'codex: 1 session, ',
    ]);
    expect(text.match(/clairvoyant bound/g)).toHaveLength(5);
    expect(text).toContain('Skipped, no session of a known format: 1.');
    expect(text).not.toContain('At risk,');
  });

  it('fits into 120 columns', () => {
    const lines = renderFidelity(report, false).split('\n');
    const table = lines.filter((line) => /^[│┌]/.test(line));
    expect(Math.max(...table.map((line) => line.length))).toBeLessThanOrEqual(120);
  });

  it('prints one table if several would cover the same sessions', () => {
    const text = renderFidelity(report, false);
    expect(text).not.toContain('All formats:');
    expect(text.match(/clairvoyant bound/g)).toHaveLength(3);
  });

  it('prints one table if there is one format', () => {
    const text = renderFidelity(ofClaude, false);
    expect(text.match(/clairvoyant bound/g)).toHaveLength(1);
  });

  it('lists the places of edits at risk on request', () => {
    const text = renderFidelity(report, true);
    const specified = report.groups[0]?.policies[1];
    expect(specified?.atRisk.length).toBeGreaterThan(0);
    for (const { source, entry, tool, file } of specified?.atRisk ?? []) {
      expect(text).toContain(`${source} entry ${entry} ${tool} ${file}`);
    }
  });
});
