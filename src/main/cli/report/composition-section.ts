// What the history consists of now: one bar, to scale, and the same as a table. Shares are of the total.

import { formatCount, formatShare } from '../terminal/text-layout.js';
import type { ChartData } from './chart-data.js';
import { html, NOTHING } from './html.js';
import type { Markup } from './html.js';

interface Segment {
  readonly id: string;
  readonly label: string;
  readonly tokens: number;
}

/** Returns the section; the widths of the segments stand in `compositionStyle`. */
export function compositionSection(chart: ChartData): Markup {
  const segments = segmentsOf(chart);
  const total = segments.reduce((sum, { tokens }) => sum + tokens, 0);
  if (total === 0) return NOTHING;
  return html`<section aria-labelledby="h-now">
    <h2 id="h-now">The history at the end</h2>
    <div class="bar" aria-hidden="true">
      ${segments.map(({ id }) => html`<i class="c-${id}" id="seg-${id}"></i>`)}
    </div>
    <table class="figures wide" id="composition">
      <caption class="hidden">
        Composition of the history
      </caption>
      <thead>
        <tr>
          <th scope="col">part</th>
          <th scope="col">tokens</th>
          <th scope="col">share</th>
        </tr>
      </thead>
      <tbody>
        ${segments.map(
          ({ id, label, tokens }) =>
            html`<tr>
              <th scope="row"><i class="swatch c-${id}"></i>${label}</th>
              <td>${formatCount(tokens)}</td>
              <td>${formatShare(tokens, total)}</td>
            </tr>`,
        )}
      </tbody>
      <tfoot>
        <tr>
          <th scope="row">total</th>
          <td>${formatCount(total)}</td>
          <td>${formatShare(total, total)}</td>
        </tr>
      </tfoot>
    </table>
  </section>`;
}

/** Returns rules that give each segment its width: a policy against inline styles forbids attributes. */
export function compositionStyle(chart: ChartData): string {
  return segmentsOf(chart)
    .map(({ id, tokens }) => `#seg-${id}{flex-grow:${tokens}}`)
    .join('');
}

function segmentsOf({ layers }: ChartData): readonly Segment[] {
  return layers
    .map(({ id, label, tokens }) => ({ id, label, tokens: tokens.at(-1) ?? 0 }))
    .filter(({ tokens }) => tokens > 0);
}
