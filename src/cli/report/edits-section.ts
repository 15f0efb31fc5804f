// All edits, grouped by reason in collapsed groups that can be searched and sorted. The sizes of rows and of excerpts are limited,
// so that the page stays small.

import { largestFirst, sumOf } from '../measure/aggregate.js';
import { itemOf } from '../measure/attribution.js';
import { formatChange, formatCount, formatNumberOf } from '../terminal/text-layout.js';
import { editGroups } from './edit-groups.js';
import type { EditGroup } from './edit-groups.js';
import { excerptOf, reclaimedBy } from '../replay/edit-row.js';
import type { EditRow } from '../replay/edit-row.js';
import { filterBar } from './filter-bar.js';
import { headCells, html, named, NOTHING, tableMarkup } from './html.js';
import type { Markup } from './html.js';
import type { ReportPage } from './report-page.js';

/** Maximum bytes of all rows together. The largest edits are listed first, so that the smallest are cut off. */
const MAX_ROW_BYTES = 52_000;

/** Maximum bytes of all excerpts together. */
const MAX_EXCERPT_BYTES = 30_000;

/** Returns the section. */
export function editsSection(page: ReportPage): Markup {
  const { rows } = page;
  if (rows.length === 0) {
    return html`<section aria-labelledby="h-edits">
      <h2 id="h-edits">Edits</h2>
      <p>Nothing was removed: the history is unchanged.</p>
    </section>`;
  }
  const listed = withinBytes(largestFirst(rows, reclaimedBy), MAX_ROW_BYTES, (row) =>
    editRow(page, row, NOTHING),
  );
  const excerpts = page.label.isRedacted
    ? new Map<EditRow, Markup>()
    : withinBytes([...listed.keys()], MAX_EXCERPT_BYTES, excerptMarkup);
  return html`<section aria-labelledby="h-edits" id="edits" data-filter>
    <h2 id="h-edits">Edits</h2>
    <p>
      ${formatNumberOf(rows.length, 'edit')} reclaimed ${formatCount(sumOf(rows, reclaimedBy))}
      tokens. A session with a
      <code>removalLogDirectory</code> returns any original with
      <code>session.restore(callId)</code>.
    </p>
    ${filterBar('edits', [
      ['size', 'largest first'],
      ['turn', 'by call'],
      ['name', 'by tool and file'],
    ])}
    ${editGroups(rows).map((group) => groupMarkup(page, group, listed, excerpts))}
  </section>`;
}

function groupMarkup(
  page: ReportPage,
  { rule, title, text, rows, tokens }: EditGroup,
  listed: ReadonlyMap<EditRow, Markup>,
  excerpts: ReadonlyMap<EditRow, Markup>,
): Markup {
  const shown = rows.filter((row) => listed.has(row));
  const left = rows.length - shown.length;
  const summary = html`<summary>
    <span class="what"><b>${title}</b> <span class="faint">${text}</span></span>
    <span class="number" data-count>${formatCount(rows.length)}</span>
    <span class="number">${formatChange(-tokens)}</span>
  </summary>`;
  const table = tableMarkup({
    attribute: 'class="ledger"',
    caption: `${title}, by rule: ${itemOf(rule)}`,
    head: headCells(['call', 'what', 'tokens', 'left', 'id']),
    rows: shown.map((row) => editRow(page, row, excerpts.get(row) ?? NOTHING)),
  });
  const more =
    left === 0
      ? NOTHING
      : html`<p class="faint">${formatNumberOf(left, 'smaller edit')} not listed.</p>`;
  return html`<details class="group" data-group>${summary}${table} ${more}</details>`;
}

function editRow({ label, chart }: ReportPage, row: EditRow, excerpt: Markup): Markup {
  const subject = row.subject === null ? '' : label.ofCall(row.subject);
  const what = row.tool === null ? html`${speakerOf(row)}` : html`<b>${named(row.tool, 60)}</b>`;
  return html`<tr data-item data-size="${reclaimedBy(row)}" data-turn="${row.turn}">
    <td>${chart.turns[row.turn] ?? ''}</td>
    <td class="what">
      ${what}${subject === '' ? NOTHING : html` ${named(subject)}`}${successorOf(row, label.ofName)}${excerpt}
    </td>
    <td>${formatCount(row.tokensBefore)}</td>
    <td>${formatCount(row.tokensAfter)}</td>
    <td class="id">
      ${row.callId === null ? NOTHING : html`<code>${named(row.callId, 120)}</code>`}
    </td>
  </tr>`;
}

/** Names the call that superseded the edited one. */
function successorOf({ why }: EditRow, nameOf: (name: string) => string): Markup {
  const by = why !== null && 'by' in why ? why.by : null;
  if (typeof by !== 'object' || by === null || !('toolName' in by)) return NOTHING;
  return html` <span class="faint">then ${named(nameOf(String(by.toolName)), 40)}</span>`;
}

const SPEAKERS = { human: 'user', ai: 'assistant', tool: 'tool' } as const;

function speakerOf({ speaker, tokensBefore }: EditRow): string {
  return tokensBefore === 0 ? 'replacement' : `${SPEAKERS[speaker]} message`;
}

function excerptMarkup(row: EditRow): Markup {
  const text = excerptOf(row);
  if (text === '') return NOTHING;
  return html`<details>
    <summary>original</summary>
    <pre dir="auto">${text}</pre>
  </details>`;
}

/** Renders rows in order and returns the markup of those that fit in `maxBytes`. */
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
