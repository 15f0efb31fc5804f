// What each policy retains and saves: for made sessions with known numbers, and for recorded ones in comparison with a
// second implementation.

import { readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { measure, sumFigures } from '../../../bench/fidelity/measure.js';
import { retainedShare, savedShare } from '../../../bench/fidelity/shares.js';
import { KEEP_ALL, POLICIES } from '../../../bench/fidelity/policies.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import type { RecordedSession } from '../../../bench/fidelity/recorded-session.js';
import { agentPreset, estimateEntryTokens } from '../../../src/index.js';
import { PRUNED_POINTER } from '../../../src/density.js';
import { readTranscript } from '../../../src/transcripts.js';
import type { IContent, ToolResponseBlock } from '../../../src/index.js';
import { sample } from '../../support/scale.js';
import { naiveMeasure } from './naive-fidelity.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/transcripts');

/** The content of each file: one unique line, and one that no edit of the tests touches. */
const CONTENT: Readonly<Record<string, string>> = {
  'a.ts': '1→const a = 1;\n2→const b = 2;\n3→const last = 9;\n'.padEnd(400, '/'),
};

/** A call and its response, of the given tool. */
function exchange(id: string, name: string, parameters: object, result: string): IContent[] {
  return [
    { speaker: 'ai', blocks: [{ type: 'tool_call', id, name, parameters }] },
    { speaker: 'tool', blocks: [{ type: 'tool_response', callId: id, toolName: name, result }] },
  ];
}

function read(file: string): IContent[] {
  const content = CONTENT[file] ?? `1→content of ${file}`;
  return exchange(`read ${file}`, 'Read', { file_path: `/work/${file}` }, content);
}

function edit(id: string, old_string: string): IContent[] {
  return exchange(
    id,
    'Edit',
    { file_path: '/work/a.ts', old_string, new_string: 'new' },
    'replaced',
  );
}

function shell(id: string): IContent[] {
  return exchange(id, 'Bash', { command: 'true' }, 'done');
}

function session(...parts: readonly IContent[][]): RecordedSession {
  const entries: IContent[] = [
    { speaker: 'human', blocks: [{ type: 'text', text: 'Change it.' }] },
    ...parts.flat(),
    { speaker: 'ai', blocks: [{ type: 'text', text: 'It is changed.' }] },
  ];
  const preset = agentPreset('claude-code');
  return recordSession('made.jsonl', { format: 'claude-code', entries, warnings: [], preset });
}

function policyNamed(name: string): (typeof POLICIES)[number] {
  const policy = POLICIES.find((each) => each.name === name);
  if (policy === undefined) throw new RangeError(`No policy is called ${name}.`);
  return policy;
}

describe('measure', () => {
  const made = session(
    read('a.ts'),
    read('b.ts'),
    read('c.ts'),
    read('d.ts'),
    edit('first', 'const a = 1;\n  const b = 2;'),
    edit('second', 'const last = 9;'),
    edit('unseen', 'never shown'),
  );

  it('counts no call for texts of the agent, or for kept entries of earlier contexts, like replays', () => {
    const says = (text: string, metadata: Record<string, boolean>): IContent => ({
      speaker: 'ai',
      blocks: [{ type: 'text', text }],
      metadata,
    });
    const others = [says('API Error', { synthetic: true }), says('Said before.', { isKept: true })];
    const played = session(shell('one'), others, shell('two'));
    expect(measure(played, KEEP_ALL).modelCalls).toBe(3);
    expect(played.gapsMs).toHaveLength(3);
  });

  it('counts edits whose text is in the unpruned context, and others separately', () => {
    expect(made.edits.map(({ callId, entry }) => [callId, entry])).toEqual([
      ['first', 9],
      ['second', 11],
    ]);
    expect(made.unseenEdits).toBe(1);
  });

  it.each([
    ['everything kept', [], 0],
    // The first edit removes the read that the second one needs.
    ['superseded by any write (specified)', ['second'], 1],
    ['superseded by a full write only', [], 0],
    ['last 3 results per tool', ['first', 'second'], 1],
    ['last 10 results per tool', [], 0],
    ['last 3 results', ['first', 'second'], 4],
    ['last 20 results', [], 0],
    // There are no more results of edits than the five that stay.
    ['crude working set, 40 calls', [], 0],
    ['crude working set, 80 calls', [], 0],
    // All results are small, or recently used.
    ['working set (default)', [], 0],
    ['working set (aggressive)', [], 0],
    ['working set, no batches', [], 0],
    // Results that no edit needs are never kept; the read is removed when the last edit is made.
    ['clairvoyant bound', [], 1],
  ])('returns the figures of "%s"', (name, lost, prefixChanges) => {
    const figures = measure(made, policyNamed(name));
    expect(figures.atRisk.map(({ callId }) => callId)).toEqual(lost);
    expect(figures).toMatchObject({
      edits: 2,
      rereads: lost.length,
      modelCalls: 8,
      prefixChanges,
    });
    expect(retainedShare(figures)).toBe(1 - lost.length / 2);
  });

  it('locates an edit at risk, and lists the missing lines of its text', () => {
    const { atRisk } = measure(made, policyNamed('superseded by any write (specified)'));
    expect(atRisk).toEqual([
      {
        source: 'made.jsonl',
        entry: 11,
        callId: 'second',
        tool: 'Edit',
        file: '/work/a.ts',
        lineCount: 1,
        missing: ['const last = 9;'],
      },
    ]);
  });

  it('adds up the tokens of each call', () => {
    const figures = measure(made, policyNamed('last 3 results per tool'));
    const whole = made.transcript.entries[2]!;
    const [response] = whole.blocks as readonly [ToolResponseBlock];
    const pointer = { ...whole, blocks: [{ ...response, result: PRUNED_POINTER }] };
    // It is removed from the calls with the three edits and the last one.
    const saved = 4 * (estimateEntryTokens(whole) - estimateEntryTokens(pointer));
    expect(figures.unpruned.tokens - figures.tokens).toBe(saved);
    expect(savedShare(figures)).toBeCloseTo(saved / figures.unpruned.tokens);
  });

  it('keeps a result in the working set for the given number of calls after its last use', () => {
    const shells = (count: number): IContent[][] =>
      Array.from({ length: count }, (_, at) => shell(`shell ${at}`));
    const editAfter = (count: number, name: string): number =>
      measure(
        session(read('a.ts'), ...shells(count), edit('late', 'const a = 1;')),
        policyNamed(name),
      ).atRisk.length;
    expect(editAfter(39, 'crude working set, 40 calls')).toBe(0);
    expect(editAfter(40, 'crude working set, 40 calls')).toBe(1);
    expect(editAfter(79, 'crude working set, 80 calls')).toBe(0);
    expect(editAfter(80, 'crude working set, 80 calls')).toBe(1);
  });

  it('does not count edits that failed', () => {
    const [call, response] = edit('failing', 'const a = 1;') as [IContent, IContent];
    const blocks = response.blocks.map((block) => ({ ...block, error: 'not unique' }));
    expect(session(read('a.ts'), [call, { ...response, blocks }]).edits).toEqual([]);
  });

  it('counts a file once if one call replaces several of its texts', () => {
    const edits = [{ old_string: 'const a = 1;' }, { old_string: 'const b = 2;' }];
    const several = exchange(
      'several',
      'MultiEdit',
      { file_path: '/work/a.ts', edits },
      'replaced',
    );
    const three = ['b.ts', 'c.ts', 'd.ts'].map(read);
    const figures = measure(
      session(read('a.ts'), ...three, several),
      policyNamed('last 3 results'),
    );
    expect([figures.atRisk.length, figures.rereads]).toEqual([2, 1]);
  });

  const files = readdirSync(FIXTURES, { recursive: true, withFileTypes: true })
    .filter((file) => file.isFile() && /\.(?:jsonl?|traj)$/.test(file.name))
    .map((file) => path.join(file.parentPath, file.name));

  it.each(sample(files, 3).map((file) => [path.relative(FIXTURES, file), file]))(
    'counts for %s what a search of all texts counts',
    async (_, file) => {
      const recorded = recordSession(file, await readTranscript(file));
      const unpruned = naiveMeasure(recorded, policyNamed('everything kept'));
      expect(unpruned.lost).toEqual([]);
      for (const policy of POLICIES) {
        const figures = measure(recorded, policy);
        const naive = naiveMeasure(recorded, policy);
        const lost = figures.atRisk.map(
          ({ entry, callId, file: of }) => `${entry}/${callId}/${of}`,
        );
        const { lost: naiveLost, inView, inputCost, ...counts } = naive;
        const needs = Object.entries(inView).map(([kind, count]) => [kind, { inView: count }]);
        expect(figures.needs).toMatchObject(Object.fromEntries(needs));
        expect([policy.name, lost]).toEqual([policy.name, naiveLost]);
        expect(figures).toMatchObject({ ...counts, unpruned: { tokens: unpruned.tokens } });
        expect(figures.inputCost).toBeCloseTo(inputCost, 4);
        expect(figures.unpruned.inputCost).toBeCloseTo(unpruned.inputCost, 4);
      }
    },
  );

  it('finds edits in the recorded sessions, all of which the clairvoyant bound retains', async () => {
    const recorded = await Promise.all(
      files.map(async (file) => recordSession(file, await readTranscript(file))),
    );
    const bound = sumFigures(
      recorded.map((each) => measure(each, policyNamed('clairvoyant bound'))),
    );
    expect(bound.edits).toBeGreaterThan(20);
    expect(bound.atRisk).toEqual([]);
    expect(savedShare(bound)).toBeGreaterThan(0.3);
  });
});
