// Draws the chart from the data in the page, and redraws it if the colour scheme or the size changes.

import uPlot from 'uplot';
import type { ChartData, ChartMark } from '../chart-data.js';
import { stack } from './stack.js';
import { createTip } from './tip.js';

const MARK_HEIGHT = 8;
const X_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];
const COMPACT = new Intl.NumberFormat('en-US', { notation: 'compact', maximumFractionDigits: 1 });
const WHOLE = new Intl.NumberFormat('en-US');

function draw(place: HTMLElement, data: ChartData): uPlot {
  const style = getComputedStyle(place);
  const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim();
  const font = `12px ${style.fontFamily}`;
  const upper = stack(data.layers.map(({ tokens }) => tokens));
  const axis = {
    stroke: colour('faint'),
    font,
    grid: { stroke: colour('edge'), width: 1 },
    ticks: { stroke: colour('edge'), width: 1 },
  };
  const areas = data.layers.map(({ id, label }): uPlot.Series => ({
    label,
    width: 1,
    stroke: colour(id),
    fill: colour(id),
    points: { show: false },
  }));
  const tip = createTip(data);
  const chart = new uPlot(
    {
      width: place.clientWidth,
      height: place.clientHeight,
      padding: [MARK_HEIGHT + 8, 20, 0, 0],
      legend: { show: false },
      cursor: { y: false, drag: { setScale: false }, points: { show: false } },
      scales: {
        x: { time: false, range: [0, Math.max(1, data.turns.length - 1)] },
        y: { range: [0, data.topTokens] },
      },
      axes: [
        {
          ...axis,
          incrs: X_STEPS,
          values: (_, splits) => splits.map((at) => data.turns[at] ?? ''),
        },
        { ...axis, size: 56, values: (_, splits) => splits.map((value) => COMPACT.format(value)) },
      ],
      // The tallest series is drawn first, so that lower layers are painted over it.
      series: [
        {},
        ...areas.reverse(),
        { label: 'without', stroke: colour('text'), width: 2, points: { show: false } },
      ],
      hooks: {
        ready: [tip.attach],
        setCursor: [tip.follow],
        draw: [
          (self) => {
            drawThreshold(self, data, { line: colour('faint'), page: colour('page') }, font);
            drawMarks(self, data.marks, colour('text'));
          },
        ],
      },
    },
    [data.turns.map((_, at) => at), ...upper.reverse(), [...data.without]],
    place,
  );
  return chart;
}

function drawThreshold(
  chart: uPlot,
  { thresholdTokens, topTokens }: ChartData,
  colours: { readonly line: string; readonly page: string },
  font: string,
): void {
  if (thresholdTokens > topTokens) return;
  const { ctx, bbox } = chart;
  const y = chart.valToPos(thresholdTokens, 'y', true);
  ctx.save();
  ctx.strokeStyle = colours.line;
  ctx.fillStyle = colours.line;
  ctx.lineWidth = 2 * uPlot.pxRatio;
  ctx.setLineDash([6 * uPlot.pxRatio, 5 * uPlot.pxRatio]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.font = font.replace('12px', `${12 * uPlot.pxRatio}px`);
  ctx.textAlign = 'right';
  // An outline in the page's colour keeps the text readable on any background.
  ctx.setLineDash([]);
  ctx.lineWidth = 4 * uPlot.pxRatio;
  ctx.lineJoin = 'round';
  ctx.strokeStyle = colours.page;
  const words = `threshold ${WHOLE.format(thresholdTokens)}`;
  const right = bbox.left + bbox.width - 6 * uPlot.pxRatio;
  const baseline = y - 6 * uPlot.pxRatio;
  ctx.strokeText(words, right, baseline);
  ctx.fillText(words, right, baseline);
  ctx.restore();
}

/** Draws the marks above the plot, where no layer is behind them. */
function drawMarks(chart: uPlot, marks: readonly ChartMark[], colour: string): void {
  const { ctx, bbox } = chart;
  ctx.save();
  ctx.fillStyle = colour;
  const half = (MARK_HEIGHT / 2) * uPlot.pxRatio;
  const middle = bbox.top - half - 3 * uPlot.pxRatio;
  for (const { at, kind } of marks) {
    const x = chart.valToPos(at, 'x', true);
    ctx.beginPath();
    for (const [right, down] of SHAPES[kind]) ctx.lineTo(x + right * half, middle + down * half);
    ctx.fill();
  }
  ctx.restore();
}

type Corners = readonly (readonly [right: number, down: number])[];

const SHAPES: Readonly<Record<ChartMark['kind'], Corners>> = {
  pruned: [
    [-1, -1],
    [1, -1],
    [0, 1],
  ],
  compressed: [
    [0, -1.2],
    [1.2, 0],
    [0, 1.2],
    [-1.2, 0],
  ],
  fitted: [
    [-1, -1],
    [1, -1],
    [1, 1],
    [-1, 1],
  ],
};

/** Draws the chart. Shows the numbers of the turn selected by pointer or arrow keys. */
export function startChart(place: HTMLElement, data: ChartData): void {
  place.replaceChildren();
  let chart = draw(place, data);
  const redraw = (): void => {
    chart.destroy();
    chart = draw(place, data);
  };
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  new ResizeObserver(() => {
    if (chart.width !== place.clientWidth || chart.height !== place.clientHeight) redraw();
  }).observe(place);
  // Printing always uses the light colours.
  addEventListener('beforeprint', () => {
    document.documentElement.dataset['print'] = '';
    redraw();
  });
  addEventListener('afterprint', () => {
    delete document.documentElement.dataset['print'];
    redraw();
  });
  let at = -1;
  place.addEventListener('keydown', ({ key }) => {
    const step = key === 'ArrowRight' ? 1 : key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    at = Math.min(data.turns.length - 1, Math.max(0, at + step));
    chart.setCursor({ left: chart.valToPos(at, 'x'), top: 0 });
  });
}
