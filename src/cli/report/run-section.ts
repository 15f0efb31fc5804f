// The section on where the work ran, and how much it blocked the thread of the turn loop.

import { sumOf } from '../measure/aggregate.js';
import { runFacts } from '../replay/report-facts.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { formatCount, formatMs, formatNumberOf, formatShare } from '../terminal/text-layout.js';
import { html, named, NOTHING, tableMarkup } from './html.js';
import type { Markup } from './html.js';
import type { ReportPage } from './report-page.js';

const MAX_NOTES = 8;

/** Returns the section. */
export function runSection({ recording: { report: replay }, label }: ReportPage): Markup {
  const rows = runFacts(replay).map(
    ([what, facts]) =>
      html`<tr>
        <th scope="row">${what}</th>
        <td>${facts.join(' · ')}</td>
      </tr>`,
  );
  const summary = html`<summary>Where the work ran</summary>`;
  const table = tableMarkup({ attribute: 'id="run"', caption: 'Where the work ran', rows });
  return html`<section aria-labelledby="h-run">
    <h2 id="h-run">Off the main thread</h2>
    <p>${verdictOf(replay)}</p>
    <details>${summary}${table}</details>
    ${label.isRedacted ? countsOf(replay) : notesOf(replay)}
  </section>`;
}

function verdictOf({ offload, mainThread }: ReplayReport): string {
  const { workerMs, mainThreadMs } = offload;
  if (offload.workerTasks === 0) {
    return `No work ran on workers; the main thread spent ${formatMs(mainThreadMs)} on it.`;
  }
  return (
    `${formatMs(workerMs)} of work ran on worker threads, ` +
    `${formatShare(workerMs, workerMs + mainThreadMs)} of all; half of the main thread’s timers were late ` +
    `by at most ${formatMs(mainThread.p50DelayMs)}, 99 % by at most ${formatMs(mainThread.p99DelayMs)}.`
  );
}

/** Counts failures and warnings only: their texts may quote the session. */
function countsOf({ failures, warnings }: ReplayReport): Markup {
  const count = sumOf(warnings, (warning) => warning.count);
  if (failures.length + count === 0) return NOTHING;
  return html`<p>
    ${formatNumberOf(failures.length, 'failure')}, ${formatNumberOf(count, 'warning')} from the
    transcript reader; their texts are hidden.
  </p>`;
}

function notesOf({ failures, warnings }: ReplayReport): Markup {
  const notes = [
    ...failures,
    ...warnings.map(({ message, count }) => `${message} (${formatNumberOf(count, 'time')})`),
  ];
  if (notes.length === 0) return NOTHING;
  const more = notes.length - MAX_NOTES;
  return html`<h3>Failures and warnings</h3>
    <ul>
      ${[
        ...notes.slice(0, MAX_NOTES).map((note) => html`<li>${named(note, 300)}</li>`),
        ...(more > 0 ? [html`<li>and ${formatCount(more)} more</li>`] : []),
      ]}
    </ul>`;
}
