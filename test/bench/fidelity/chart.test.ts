// The chart of a report: every policy named, no names over each other.

import { describe, expect, it } from 'vitest';
import { drawChart } from '../../../bench/fidelity/chart.js';
import { POLICIES } from '../../../bench/fidelity/policies.js';
import type { GroupReport } from '../../../bench/fidelity/report.js';

function groupOf(figures: readonly (readonly [retained: number, saved: number])[]): GroupReport {
  const policies = POLICIES.map(({ name }, at) => {
    const [retained, saved] = figures[at] ?? [1, 0];
    const counts = { edits: 1, rereads: 0, modelCalls: 1, tokens: 1, unprunedTokens: 1 };
    return { policy: name, retained, saved, ...counts, atRisk: [], cacheRewrites: 0 };
  });
  return { group: 'all', sessions: 1, edits: 1, unseenEdits: 0, policies };
}

const LABEL = /<text x="([\d.]+)" y="([\d.]+)" text-anchor="middle">([^<]*)<\/text>/g;

describe('drawChart', () => {
  it.each([
    ['apart', POLICIES.map((_, at) => [1 - at / 20, at / 20] as const)],
    ['in one place', POLICIES.map(() => [0.95, 0.4] as const)],
  ])('names every policy when they are %s, none over another', (_, figures) => {
    const names = new Set(POLICIES.map(({ name }) => name));
    const labels = Array.from(drawChart(groupOf(figures)).matchAll(LABEL))
      .map(([, x, y, name]) => ({ x: Number(x), y: Number(y), name: name ?? '' }))
      .filter(({ name }) => names.has(name));
    expect(labels.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const [at, label] of labels.entries()) {
      for (const other of labels.slice(at + 1)) {
        const width = 3 * (label.name.length + other.name.length);
        const isApart = Math.abs(label.y - other.y) >= 14 || Math.abs(label.x - other.x) >= width;
        expect([label.name, other.name, isApart]).toEqual([label.name, other.name, true]);
      }
    }
  });

  it('has no line run through a name', () => {
    const svg = drawChart(groupOf([[1, 0.5]]));
    const name = Array.from(svg.matchAll(LABEL)).find(([, , , text]) => text === POLICIES[0]?.name);
    const [middle, height] = [Number(name?.[1]), Number(name?.[2])];
    const lines = Array.from(svg.matchAll(/x1="([\d.]+)" x2="([\d.]+)" y1="([\d.]+)"/g));
    const near = lines.filter(([, , , y]) => Math.abs(Number(y) - height) < 10);
    expect(near.length).toBeGreaterThan(1);
    expect(near.filter(([, from, to]) => Number(from) < middle && middle < Number(to))).toEqual([]);
  });

  it('shows the clairvoyant bound as a ring', () => {
    expect(drawChart(groupOf([])).match(/class="bound"/g)).toHaveLength(1);
  });
});
