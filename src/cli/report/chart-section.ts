// The figure of tokens per turn: the container of the chart, its legend, and the same numbers as an
// accessible table.

import { formatCount } from '../terminal/text-layout.js';
import { sumOf } from '../measure/aggregate.js';
import type { ChartData } from './chart-data.js';
import { headCells, html, NOTHING, tableMarkup } from './html.js';
import type { Markup } from './html.js';

/** The table samples the turns of longer sessions. */
const MAX_TABLE_ROWS = 40;

/** Returns the section. The script finds the chart's container by its id. */
export function chartSection(chart: ChartData): Markup {
  if (chart.turns.length === 0) return NOTHING;
  const peak = Math.max(...chart.without);
  return html`<section aria-labelledby="h-turns">
    <h2 id="h-turns">Tokens per call</h2>
    <figure>
      <figcaption>
        <ul class="legend">
          ${[
            ...chart.layers.map(
              ({ id, label }) => html`<li><i class="swatch c-${id}"></i>${label}</li>`,
            ),
            html`<li><i class="line without"></i>without ctxfold</li>`,
            html`<li>
              <i class="line threshold"></i>threshold
              ${formatCount(chart.thresholdTokens)}${chart.thresholdTokens > chart.topTokens ? ', above the chart' : ''}
            </li>`,
            ...marksLegend(chart),
          ]}
        </ul>
      </figcaption>
      <div
        id="chart"
        role="img"
        tabindex="0"
        aria-label="Stacked area chart of tokens by category over ${chart.turns.length} turns; at most ${formatCount(peak)} without ctxfold. The table below has the numbers."
      >
        <noscript
          ><p class="empty">
            The chart needs JavaScript; the table below has its numbers.
          </p></noscript
        >
      </div>
    </figure>
    ${turnTable(chart)}
  </section>`;
}

const MARKS = { pruned: '▼ pruned', compressed: '◆ compressed', fitted: '■ made to fit' } as const;

function marksLegend({ marks }: ChartData): readonly Markup[] {
  const kinds = new Set(marks.map(({ kind }) => kind));
  return Array.from(kinds, (kind) => html`<li>${MARKS[kind]}</li>`);
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
  const head = html`<th scope="col">call</th>
    ${headCells(layers.map(({ label }) => label))}
    <th scope="col">with</th>
    <th scope="col">without</th>
    ${isWhole ? html`<th scope="col">edits</th>` : NOTHING}`;
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
  const table = tableMarkup({ attribute: 'id="turns"', caption, head: [head], rows });
  return html`<details>${summary}${table}</details>`;
}
