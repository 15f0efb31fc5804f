// The figure of tokens per turn: a chart of stacked layers, and the same numbers as an accessible table.

import { formatCount } from '../terminal/text-layout.js';
import { groupBy, maxOf, sumOf } from '../measure/aggregate.js';
import { areaOf, callChart, lineOf } from './call-chart.js';
import type { CallMark } from './call-chart.js';
import type { ChartData } from './chart-data.js';
import { headCells, html, NOTHING, tableMarkup } from './html.js';
import type { Markup } from './html.js';

/** The table samples the turns of longer sessions. */
const MAX_TABLE_ROWS = 40;

/** Returns the section. The script finds the chart by its id, and shows the numbers of a call. */
export function chartSection(chart: ChartData): Markup {
  const { layers, thresholdTokens, topTokens } = chart;
  if (layers.length === 0) return NOTHING;
  return html`<section aria-labelledby="h-turns">
    <h2 id="h-turns">Tokens per call</h2>
    <ul class="legend">
      ${layers.map(({ id, label }) => html`<li><i class="swatch c-${id}"></i>${label}</li>`)}
      <li><i class="line without"></i>without ctxfold</li>
      <li>
        <i class="line threshold"></i>threshold
        ${formatCount(thresholdTokens)}${thresholdTokens > topTokens ? ', above the chart' : ''}
      </li>
      ${marksOf(chart).map(({ sign, what }) => html`<li>${sign} ${what}</li>`)}
    </ul>
    <div id="chart" tabindex="0" role="group" aria-label="Arrow keys tell the numbers of a call">
      ${areas(chart)}
    </div>
    ${turnTable(chart)}
  </section>`;
}

function areas(chart: ChartData): Markup {
  const { turns, layers, without, thresholdTokens, topTokens: top } = chart;
  const line = (kind: string, tokens: readonly number[]): Markup =>
    html`<path class="${kind}" d="${lineOf(tokens, top)}" />`;
  // The layers are stacked: each is drawn as the sum of those up to it, the tallest first.
  const stacked = layers.map(({ id }, at) => {
    const sums = turns.map((_, turn) =>
      sumOf(layers.slice(0, at + 1), ({ tokens }) => tokens[turn] ?? 0),
    );
    return html`<path class="c-${id}" d="${areaOf(sums, top)}" />`;
  });
  return callChart({
    names: turns,
    top,
    label: `Tokens of each call by category; at most ${formatCount(maxOf(without))} without ctxfold. The table below has the numbers.`,
    paths: [
      ...stacked.reverse(),
      line('without', without),
      ...(thresholdTokens > top
        ? []
        : [
            line(
              'threshold',
              turns.map(() => thresholdTokens),
            ),
          ]),
    ],
    marks: marksOf(chart),
  });
}

const SIGNS = {
  pruned: ['▼', 'pruned'],
  compressed: ['◆', 'compressed'],
  fitted: ['■', 'made to fit'],
} as const;

function marksOf({ marks }: ChartData): readonly (CallMark & { readonly what: string })[] {
  return Array.from(
    groupBy(marks, ({ kind }) => kind),
    ([kind, those]) => {
      const [sign, what] = SIGNS[kind];
      return { sign, what, calls: those.map(({ at }) => at) };
    },
  );
}

function turnTable({ turns, layers, without, marks }: ChartData): Markup {
  const step = Math.ceil(turns.length / MAX_TABLE_ROWS);
  const shown = turns
    .map((turn, at) => ({ turn, at }))
    .filter(({ at }) => at % step === 0 || at === turns.length - 1);
  const edits = new Map<number, string>();
  for (const { at, text } of marks) {
    edits.set(at, [edits.get(at), text].filter((part) => part !== undefined).join('; '));
  }
  const isWhole = step === 1;
  const names = ['call', ...layers.map(({ label }) => label), 'with', 'without'];
  const head = headCells([...names, ...(isWhole ? ['edits'] : [])]);
  const rows = shown.map(({ turn, at }) => {
    const counts = layers.map(({ tokens }) => tokens[at] ?? 0);
    return html`<tr>
      <th scope="row">${turn}</th>
      ${counts.map((count) => html`<td>${formatCount(count)}</td>`)}
      <td>${formatCount(sumOf(counts, (count) => count))}</td>
      <td>${formatCount(without[at] ?? 0)}</td>
      ${isWhole ? html`<td class="faint">${edits.get(at) ?? ''}</td>` : NOTHING}
    </tr>`;
  });
  const summary = html`<summary>
    ${isWhole ? 'The calls as a table' : `One in ${formatCount(step)} calls as a table`}
  </summary>`;
  const caption = 'Tokens per call';
  const table = tableMarkup({ attribute: 'id="turns"', caption, head, rows });
  return html`<details>${summary}${table}</details>`;
}
