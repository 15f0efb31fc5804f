// The chart of a report: every policy has a label, and labels do not overlap.

import { describe, expect, it } from 'vitest';
import { drawChart } from '../../../bench/fidelity/chart.js';
import { sumFigures } from '../../../bench/fidelity/measure.js';
import { POLICIES } from '../../../bench/fidelity/policies.js';
import type { GroupReport } from '../../../bench/fidelity/report.js';

/** The policies in charts: baselines are only in tables. */
const CHARTED = POLICIES.filter(({ role }) => role !== 'baseline');

function groupOf(figures: readonly (readonly [retained: number, saved: number])[]): GroupReport {
  const none = sumFigures([]);
  const policies = POLICIES.map(({ name, role = 'compared' }) => {
    const [retained, saved] = figures[CHARTED.findIndex((each) => each.name === name)] ?? [1, 0];
    return { ...none, policy: name, role, retained, saved, cost: 1 };
  });
  const counts = { sessions: 1, contexts: 1, edits: 1, unseenEdits: 0 };
  return { group: 'all', formats: [], ...counts, policies, lifts: [] };
}

interface Label {
  readonly name: string;
  readonly left: number;
  readonly right: number;
  readonly y: number;
}

const LABEL = /<text class="\w+" x="([\d.]+)" y="([\d.]+)" text-anchor="(\w+)">([^<]*)<\/text>/g;

/** The labels in a chart, with their least width. */
function labelsOf(svg: string): readonly Label[] {
  return Array.from(svg.matchAll(LABEL), ([, x, y, anchor, name = '']) => {
    const width = 6 * name.length;
    const left = Number(x) - { start: 0, middle: width / 2, end: width }[anchor ?? '']!;
    return { name, left, right: left + width, y: Number(y) };
  });
}

describe('drawChart', () => {
  it.each([
    ['apart', CHARTED.map((_, at) => [1 - at / 20, at / 20] as const)],
    ['in one place', CHARTED.map(() => [0.95, 0.4] as const)],
  ])('labels every policy when they are %s, without overlap', (_, figures) => {
    const labels = labelsOf(drawChart(groupOf(figures)));
    expect(labels.map(({ name }) => name).sort()).toEqual(CHARTED.map(({ name }) => name).sort());
    for (const [at, label] of labels.entries()) {
      for (const other of labels.slice(at + 1)) {
        const isBeside = label.right <= other.left || other.right <= label.left;
        const isApart = Math.abs(label.y - other.y) >= 14 || isBeside;
        expect([label.name, other.name, isApart]).toEqual([label.name, other.name, true]);
      }
    }
  });

  it('draws no line through a label', () => {
    const svg = drawChart(groupOf([[1, 0.5]]));
    const label = labelsOf(svg).find(({ name }) => name === POLICIES[0]?.name)!;
    const middle = (label.left + label.right) / 2;
    const lines = Array.from(svg.matchAll(/x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)"/g));
    const near = lines.filter(([, , , y]) => Math.abs(Number(y) - label.y) < 10);
    expect(near.length).toBeGreaterThan(1);
    expect(near.filter(([, from, to]) => Number(from) < middle && middle < Number(to))).toEqual([]);
  });

  it('names its sessions', () => {
    expect(drawChart(groupOf([]))).toContain('>1 recorded sessions (all formats), 1 edits</text>');
    const named = { ...groupOf([]), group: 'codex', sessions: 2 };
    expect(drawChart(named)).toContain('2 recorded sessions (codex), 1 edits');
  });

  it('shows a clairvoyant bound as a ring', () => {
    const bounds = POLICIES.filter(({ role }) => role === 'bound');
    expect(drawChart(groupOf([])).match(/circle class="bound"/g)).toHaveLength(bounds.length);
  });
});
