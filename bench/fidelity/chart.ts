// Draws what policies retain against what they save, as SVG. The output is deterministic.

import type { PolicyRole } from './policy.js';
import type { GroupReport, PolicyReport } from './report.js';

const WIDTH = 760;
const HEIGHT = 436;
const PLOT = { left: 56, right: 24, top: 60, bottom: 44 };
const BASELINE = HEIGHT - PLOT.bottom;
const TICK_PERCENT = 10;
const DOT_RADIUS = 5;
/** Approximate size of a label's letter and line. */
const LETTER_WIDTH = 6.6;
const LINE_HEIGHT = 14;
/** How many label heights from its dot a label may be placed. */
const STEPS = 20;

interface Box {
  readonly left: number;
  readonly right: number;
  readonly top: number;
  readonly bottom: number;
}

interface Dot {
  readonly name: string;
  readonly x: number;
  readonly y: number;
  readonly role: PolicyRole;
}

/** A candidate box for a label, and the text anchor that keeps it in the box. */
interface Place extends Box {
  readonly anchor: 'start' | 'middle' | 'end';
}

interface Label extends Place {
  readonly dot: Dot;
}

/**
 * The chart of a group of sessions: right is cheaper, up is safer. Baselines are left to the tables, because there are too many.
 */
export function drawChart({ group, sessions, edits, policies: all }: GroupReport): string {
  const policies = all.filter(({ role }) => role !== 'baseline');
  const scale = scaleOf(policies);
  const dots = policies.map(({ policy, role, retained, saved }): Dot => {
    return { name: policy, role, x: scale.x(100 * saved), y: scale.y(100 * retained) };
  });
  const labels = placeLabels(dots);
  const described = policies
    .map(({ policy, retained, saved }) => `${policy}: ${percent(retained)}, ${percent(saved)}`)
    .join('; ');
  const formats = group === 'all' ? 'all formats' : group;
  const subject = `${sessions} recorded sessions (${formats}), ${edits} edits`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title desc">
<title id="title">What pruning policies retain and save</title>
<desc id="desc">${subject}. Edits whose text stays in view, and input tokens saved. ${escaped(described)}.</desc>
<style>
text { font: 12px system-ui, sans-serif; fill: #57606a }
.grid { stroke: #d0d7de; stroke-width: 1 }
.lead { stroke: #8c959f; stroke-width: 1 }
circle.compared { fill: #8c959f }
text.own, .own { fill: #0969da }
circle.bound { fill: none; stroke: #57606a; stroke-width: 2 }
.head { font-size: 14px; font-weight: 600; fill: #24292f }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.grid { stroke: #3d444d }
.lead { stroke: #848d97 }
circle.compared { fill: #848d97 }
text.own, .own { fill: #4493f8 }
circle.bound { stroke: #9198a1 }
.head { fill: #f0f6fc }
}
</style>
<text class="head" x="${PLOT.left}" y="20">Edits whose text is still in view, by input tokens saved</text>
<text x="${PLOT.left}" y="38">${escaped(subject)}</text>
${scale.grid(labels)}
${labels.map(drawLabel).join('\n')}
${dots.map(({ x, y, role }) => `<circle class="${role}" cx="${x}" cy="${y}" r="${DOT_RADIUS}"/>`).join('\n')}
<text x="${(PLOT.left + WIDTH - PLOT.right) / 2}" y="${HEIGHT - 8}" text-anchor="middle">input tokens saved</text>
</svg>
`;
}

function scaleOf(policies: readonly PolicyReport[]): {
  readonly x: (percent: number) => number;
  readonly y: (percent: number) => number;
  readonly grid: (labels: readonly Box[]) => string;
} {
  const ticksTo = (value: number, round: (ticks: number) => number): number =>
    round(100 * value * (1 / TICK_PERCENT)) * TICK_PERCENT;
  const right = Math.max(10, ticksTo(Math.max(...policies.map(({ saved }) => saved)), Math.ceil));
  const left = Math.min(0, ticksTo(Math.min(...policies.map(({ saved }) => saved)), Math.floor));
  const lowest = Math.min(...policies.map(({ retained }) => retained));
  const bottom = Math.min(90, ticksTo(lowest, Math.floor));
  const x = (value: number): number =>
    tenth(PLOT.left + ((value - left) / (right - left)) * (WIDTH - PLOT.left - PLOT.right));
  const y = (value: number): number =>
    tenth(BASELINE - ((value - bottom) / (100 - bottom)) * (BASELINE - PLOT.top));
  const grid = (labels: readonly Box[]): string => {
    const rows = ticks(bottom, 100).map(
      (tick) =>
        `${gridLine(y(tick), labels)}<text x="${PLOT.left - 8}" y="${y(tick) + 4}" text-anchor="end">${tick} %</text>`,
    );
    const columns = ticks(left, right).map(
      (tick) => `<text x="${x(tick)}" y="${BASELINE + 18}" text-anchor="middle">${tick} %</text>`,
    );
    return [...rows, ...columns].join('\n');
  };
  return { x, y, grid };
}

/** A line across the plot, with gaps for labels. */
function gridLine(y: number, labels: readonly Box[]): string {
  const crossed = labels
    .filter(({ top, bottom }) => top < y && y < bottom)
    .sort((a, b) => a.left - b.left);
  const starts = [PLOT.left, ...crossed.map(({ right }) => right)];
  const ends = [...crossed.map(({ left }) => left), WIDTH - PLOT.right];
  return starts
    .flatMap((start, at) => {
      const end = ends[at] ?? start;
      const line = `<line class="grid" x1="${tenth(start)}" x2="${tenth(end)}" y1="${y}" y2="${y}"/>`;
      return end > start ? [line] : [];
    })
    .join('');
}

function ticks(from: number, to: number): readonly number[] {
  return Array.from(
    { length: Math.round((to - from) / TICK_PERCENT) + 1 },
    (_, at) => from + at * TICK_PERCENT,
  );
}

/** Gives each label the nearest free place, and omits labels without one. */
function placeLabels(dots: readonly Dot[]): readonly Label[] {
  const taken: Box[] = dots.map(({ x, y }) => around(x, y, 2 * DOT_RADIUS, 2 * DOT_RADIUS));
  const labels: Label[] = [];
  for (const dot of dots) {
    const width = dot.name.length * LETTER_WIDTH;
    const box = candidates(dot, width).find(
      (candidate) => isInside(candidate) && !taken.some((other) => overlaps(candidate, other)),
    );
    if (box === undefined) continue;
    taken.push(box);
    labels.push({ ...box, dot });
  }
  return labels;
}

/** Right, left, below and above the dot, then the same farther away. */
function candidates({ x, y }: Dot, width: number): readonly Place[] {
  const sideways = width / 2 + DOT_RADIUS + 5;
  const at = (middle: number, height: number, anchor: Place['anchor']): Place => {
    return { ...around(middle, height, width, LINE_HEIGHT), anchor };
  };
  return Array.from({ length: STEPS }, (_, step) => step).flatMap((step) => {
    const down = step * LINE_HEIGHT;
    return [
      at(x + sideways, y + down, 'start'),
      at(x - sideways, y + down, 'end'),
      at(x, y + down + LINE_HEIGHT, 'middle'),
      at(x + sideways, y - down, 'start'),
      at(x - sideways, y - down, 'end'),
      at(x, y - down - LINE_HEIGHT, 'middle'),
    ];
  });
}

function around(x: number, y: number, width: number, height: number): Box {
  return { left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 };
}

/** A label beside a dot on the lowest line may extend half its height below the plot; the axis numbers are further down. */
function isInside({ left, right, top, bottom }: Box): boolean {
  return (
    left > PLOT.left &&
    right < WIDTH &&
    top > PLOT.top - LINE_HEIGHT &&
    bottom <= BASELINE + LINE_HEIGHT / 2
  );
}

function overlaps(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

/** The label, with a line to its dot if they are apart. */
function drawLabel({ dot, anchor, left, right, top, bottom }: Label): string {
  const middle = (top + bottom) / 2;
  const x = { start: left, middle: (left + right) / 2, end: right }[anchor];
  const isFar = Math.abs(middle - dot.y) > LINE_HEIGHT + 1;
  const end = Math.min(Math.max(dot.x, left), right);
  const lead = isFar
    ? `<line class="lead" x1="${dot.x}" y1="${dot.y}" x2="${tenth(end)}" y2="${tenth(middle > dot.y ? top : bottom)}"/>`
    : '';
  const style = `class="${dot.role}"`;
  return `${lead}<text ${style} x="${tenth(x)}" y="${tenth(middle + 4)}" text-anchor="${anchor}">${escaped(dot.name)}</text>`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`;
}

function tenth(value: number): number {
  return Math.round(value * 10) / 10;
}
