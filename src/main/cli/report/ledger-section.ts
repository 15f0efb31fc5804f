// The ledger: every edit, what it took and how to get that back. The rows, and the excerpts of what
// stood there, are bounded, so that the page stays small.

import { formatCount, formatNumberOf } from '../terminal/text-layout.js';
import { excerptOf } from './edit-row.js';
import type { EditRow } from './edit-row.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import { itemOf } from '../measure/attribution.js';
import { reasonOfRow } from './report-page.js';
import type { ReportPage } from './report-page.js';

/** Bytes of all rows together: where there are more, the largest edits are listed. */
const MAX_ROW_BYTES = 125_000;

/** UTF-16 units of one excerpt. */
const MAX_EXCERPT_LENGTH = 600;

/** Bytes of all excerpts together. */
const MAX_EXCERPT_BYTES = 50_000;

/** Returns the section. */
export function ledgerSection(page: ReportPage): Markup {
  const { rows } = page;
  if (rows.length === 0) {
    return html`<section aria-labelledby="h-edits">
      <h2 id="h-edits">Edits</h2>
      <p>Nothing was stale, and compression was not due: the history is as it was.</p>
    </section>`;
  }
  const bySize = [...rows].sort((a, b) => reclaimed(b) - reclaimed(a));
  const listed = withinBytes(bySize, MAX_ROW_BYTES, (row) => ledgerRow(page, row, NOTHING));
  const excerpts = page.label.isRedacted
    ? new Map<EditRow, Markup>()
    : withinBytes([...listed.keys()], MAX_EXCERPT_BYTES, excerptMarkup);
  const left = rows.filter((row) => !listed.has(row));
  return html`<section aria-labelledby="h-edits">
    <h2 id="h-edits">Edits</h2>
    <p>
      Every edit, in the order in which they landed. A session with a
      <code>removalLogDirectory</code> gives back what a call had answered by
      <code>session.restore(callId)</code>; entries that belong to no call are read by
      <code>readRemovals(path)</code>.
    </p>
    <div class="scroll">
      <table class="figures ledger" id="edits">
        <caption class="hidden">
          Edits
        </caption>
        <thead>
          <tr>
            <th scope="col">turn</th>
            <th scope="col">rule</th>
            <th scope="col">of</th>
            <th scope="col">reason</th>
            <th scope="col">before</th>
            <th scope="col">after</th>
            <th scope="col">get it back</th>
          </tr>
        </thead>
        <tbody>
          ${rows
            .filter((row) => listed.has(row))
            .map((row) => ledgerRow(page, row, excerpts.get(row) ?? NOTHING))}
        </tbody>
        <tfoot>
          ${[
            ...(left.length === 0
              ? []
              : [sumRow(`${formatNumberOf(left.length, 'smaller edit')} not listed`, left)]),
            sumRow('all edits', rows),
          ]}
        </tfoot>
      </table>
    </div>
  </section>`;
}

function reclaimed({ tokensBefore, tokensAfter }: EditRow): number {
  return Math.abs(tokensBefore - tokensAfter);
}

function ledgerRow({ label, chart }: ReportPage, row: EditRow, excerpt: Markup): Markup {
  const subject = row.subject === null ? '' : label.ofCall(row.subject);
  const what = row.tool === null ? html`${entriesOf(row)}` : named(row.tool, 60);
  const back = row.callId === null ? readBack(row) : html`<code>${named(row.callId, 120)}</code>`;
  return html`<tr>
    <td>${chart.turns[row.turn] ?? ''}</td>
    <td>${itemOf(row.rule)}</td>
    <td>${what}${subject === '' ? NOTHING : html` ${named(subject)}`}${excerpt}</td>
    <td>${reasonOfRow(row)}</td>
    <td>${formatCount(row.tokensBefore)}</td>
    <td>${formatCount(row.tokensAfter)}</td>
    <td>${back}</td>
  </tr>`;
}

function readBack({ tokensBefore }: EditRow): Markup {
  return tokensBefore === 0 ? html`–` : html`<code>readRemovals</code>`;
}

const SPEAKERS = { human: 'user', ai: 'assistant', tool: 'tool' } as const;

function entriesOf({ items, speaker, tokensBefore }: EditRow): string {
  if (tokensBefore === 0) return 'put in by the edit';
  return `${SPEAKERS[speaker]}, ${formatNumberOf(Math.max(1, items), 'entry', 'entries')}`;
}

function sumRow(what: string, rows: readonly EditRow[]): Markup {
  const sum = (key: 'tokensBefore' | 'tokensAfter'): string =>
    formatCount(rows.reduce((total, row) => total + row[key], 0));
  return html`<tr>
    <th scope="row" colspan="4">${what}</th>
    <td>${sum('tokensBefore')}</td>
    <td>${sum('tokensAfter')}</td>
    <td></td>
  </tr>`;
}

function excerptMarkup(row: EditRow): Markup {
  const text = excerptOf(row, MAX_EXCERPT_LENGTH);
  if (text === '') return NOTHING;
  return html`<details>
    <summary>original</summary>
    <pre dir="auto">${text}</pre>
  </details>`;
}

/** Renders rows for as long as the markup fits; returns those that did. */
function withinBytes(
  rows: readonly EditRow[],
  maxBytes: number,
  render: (row: EditRow) => Markup,
): ReadonlyMap<EditRow, Markup> {
  const rendered = new Map<EditRow, Markup>();
  let bytes = 0;
  for (const row of rows) {
    const markup = render(row);
    bytes += Buffer.byteLength(markup.text);
    if (bytes > maxBytes) break;
    rendered.set(row, markup);
  }
  return rendered;
}
