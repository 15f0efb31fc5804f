// What charts over the model calls share. A call is one unit wide, and tokens are scaled to a fixed height. Works without a script.

import { formatCompact } from '../terminal/text-layout.js';
import { html, percent } from './html.js';
import type { Markup } from './html.js';

/** Height of the coordinate system, in which all coordinates are whole numbers. */
const HEIGHT = 1_000;

/** Space for labels. */
const MAX_TICKS = { calls: 8, tokens: 5 };

/** More signs beside each other would be a bar. */
const MAX_MARKS = 60;

/** The parts of a chart. */
interface CallChart {
  /** Names of the calls. */
  readonly names: readonly string[];
  /** Tokens at the top. */
  readonly top: number;
  /** For screen readers. */
  readonly label: string;
  /** Paths of `lineOf` and `areaOf`. */
  readonly paths: readonly Markup[];
  /** What happened before which calls, shown above the chart. */
  readonly marks: readonly CallMark[];
}

/** One sign for several calls. */
export interface CallMark {
  readonly sign: string;
  /** Indices of the calls. */
  readonly calls: readonly number[];
}

/** Returns a chart that fills its box. */
export function callChart({ names, top, label, paths, marks }: CallChart): Markup {
  const step = roundStep(top, MAX_TICKS.tokens);
  const ticks = Array.from({ length: Math.floor(top / step) + 1 }, (_, at) => at * step);
  const grid = ticks.map((tokens) => `M0 ${yOf(tokens, top)}H${names.length}`).join('');
  return html`<svg class="plot" role="img" aria-label="${label}">
    <svg viewBox="0 0 ${names.length} ${HEIGHT}" preserveAspectRatio="none">
      <path class="grid" d="${grid}" />
      ${paths}
    </svg>
    ${ticks.map(
      (tokens) =>
        html`<text x="-8" y="${percent(top - tokens, top)}" dy="4" text-anchor="end">
          ${formatCompact(tokens)}
        </text>`,
    )}
    ${callLabels(names, '100%', 16)}
    ${marks.map(({ sign, calls }) => {
      const places = apart(calls, names.length / MAX_MARKS).map((at) =>
        percent(at + 0.5, names.length),
      );
      return html`<text x="${places.join(' ')}" y="-6" text-anchor="middle"
        >${sign.repeat(places.length)}</text
      >`;
    })}
  </svg>`;
}

/** Leaves out calls that are nearer than `distance` to the one before them. */
function apart(calls: readonly number[], distance: number): readonly number[] {
  let next = 0;
  return calls.filter((at) => {
    if (at < next) return false;
    next = at + distance;
    return true;
  });
}

/** Returns the names of some calls as texts that are positioned along the width. */
export function callLabels(
  names: readonly string[],
  y: string | number,
  shift: number = 0,
): readonly Markup[] {
  const step = roundStep(names.length, MAX_TICKS.calls);
  // A text at the very end would be wider than the page.
  const last = names.length - step / 2;
  return names.flatMap((name, at) =>
    at % step === 0 && at <= last
      ? html`<text x="${percent(at, names.length)}" y="${y}" dy="${shift}">
          ${at === 0 ? 'call 1' : name}
        </text>`
      : [],
  );
}

/** Returns the path of a line with a step for each call. */
export function lineOf(tokens: readonly number[], top: number): string {
  return `M0 ${yOf(tokens[0] ?? 0, top)}${stepsOf(tokens, top)}`;
}

/** Returns the path of the area below that line. */
export function areaOf(tokens: readonly number[], top: number): string {
  return `M0 ${HEIGHT}${stepsOf(tokens, top)}V${HEIGHT}Z`;
}

function stepsOf(tokens: readonly number[], top: number): string {
  const heights = tokens.map((count) => yOf(count, top));
  return heights.map((y, at) => (y === heights[at + 1] ? '' : `V${y}H${at + 1}`)).join('');
}

function yOf(tokens: number, top: number): number {
  return Math.round(HEIGHT * (1 - tokens / top));
}

/** Returns the smallest of 1, 2 or 5 times a power of ten that divides a length into at most `maxSteps` steps. */
function roundStep(length: number, maxSteps: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, length / maxSteps)));
  return unit * ([1, 2, 5].find((factor) => length / (factor * unit) <= maxSteps) ?? 10);
}
