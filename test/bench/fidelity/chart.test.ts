// The chart of a report: every policy named, no names over each other.

import { describe, expect, it } from 'vitest';
import { drawChart } from '../../../bench/fidelity/chart.js';
import { POLICIES } from '../../../bench/fidelity/policies.js';
import type { GroupReport } from '../../../bench/fidelity/report.js';

function groupOf(figures: readonly (readonly [retained: number, saved: number])[]): GroupReport {
  const counts = { edits: 1, rereads: 0, modelCalls: 1, tokens: 1, unprunedTokens: 1 };
  const cache = { cacheRewrites: 0, prefixChanges: 0, rewrittenTokens: 0 };
  const cost = { cost: 1, inputCost: 1, unprunedInputCost: 1 };
  const policies = POLICIES.map(({ name, role = 'compared' }, at) => {
    const [retained, saved] = figures[at] ?? [1, 0];
    return { policy: name, role, retained, saved, ...counts, ...cache, ...cost, atRisk: [] };
  });
  return { group: 'all', formats: [], sessions: 1, edits: 1, unseenEdits: 0, policies };
}

interface Label {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

const LABEL = /<text class="\w+" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)<\/text>/g;

/** The names in a chart, with the least width that they take. */
function labelsOf(svg: string): readonly Label[] {
  return Array.from(svg.matchAll(LABEL), ([, x, y, anchor, name = '']) => {
    const width = 6 * name.length;
    const left = Number(x) - { start: 0, middle: width / 2, end: width }[anchor ?? '']!;
    return { name, left, right: left + width, y: Number(y) };
  });
}

describe('drawChart', () => {
  it.each([
    ['apart', POLICIES.map((_, at) => [1 - at / 20, at / 20] as const)],
    ['in one place', POLICIES.map(() => [0.95, 0.4] as const)],
  ])('names every policy when they are %s, none over another', (_, figures) => {
    const labels = labelsOf(drawChart(groupOf(figures)));
    expect(labels.map(({ name }) => name).sort()).toEqual(POLICIES.map(({ name }) => name).sort());
    for (const [at, label] of labels.entries()) {
      for (const other of labels.slice(at + 1)) {
        const isBeside = label.right <= other.left || other.right <= label.left;
        const isApart = Math.abs(label.y - other.y) >= 14 || isBeside;
        expect([label.name, other.name, isApart]).toEqual([label.name, other.name, true]);
      }
    }
  });

  it('has no line run through a name', () => {
    const svg = drawChart(groupOf([[1, 0.5]]));
    const label = labelsOf(svg).find(({ name }) => name === POLICIES[0]?.name)!;
    const middle = (label.left + label.right) / 2;
    const lines = Array.from(svg.matchAll(/x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)"/g));
    const near = lines.filter(([, , , y]) => Math.abs(Number(y) - label.y) < 10);
    expect(near.length).toBeGreaterThan(1);
    expect(near.filter(([, from, to]) => Number(from) < middle && middle < Number(to))).toEqual([]);
  });

  it('says which sessions it is about', () => {
    expect(drawChart(groupOf([]))).toContain('>1 recorded sessions (all formats), 1 edits</text>');
    const named = { ...groupOf([]), group: 'codex', sessions: 2 };
    expect(drawChart(named)).toContain('2 recorded sessions (codex), 1 edits');
  });

  it('shows the clairvoyant bound as a ring', () => {
    expect(drawChart(groupOf([])).match(/circle class="bound"/g)).toHaveLength(1);
  });
});
