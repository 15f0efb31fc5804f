// The page about a folder: one headline figure, totals by day, and a list of sessions that can be expanded. Keeps only a digest of
// each session, because a folder may have hundreds.

import { relative } from 'node:path';
import type { TokenPair, InputSums, Money } from '../replay/money.js';
import { groupBy, largestFirst } from '../measure/aggregate.js';
import {
  formatCompact,
  formatCount,
  formatDollars,
  formatNumberOf,
  formatSaving,
  formatShare,
  shortenStart,
} from '../terminal/text-layout.js';
import type { ContentLabel } from '../terminal/content-label.js';
import { editGroups } from './edit-groups.js';
import { filterBar } from './filter-bar.js';
import { headlineSection } from './headline-section.js';
import { figureRow, headCells, html, named, NOTHING, percent, tableMarkup } from './html.js';
import type { Markup } from './html.js';
import { pricesSentence, sumInput } from '../replay/money.js';
import type { Recording } from '../replay/recording.js';

/** Digest of one session. */
export interface FolderSession {
  readonly title: string;
  readonly format: string;
  readonly model: string | null;
  readonly input: Money;
  /** By day in UTC, such as `2026-01-31`; the empty key has calls without a recorded time. */
  readonly days: ReadonlyMap<string, InputSums>;
  readonly end: TokenPair;
  /** Groups of edits by reason, with their number and reclaimed tokens, most tokens first. */
  readonly reasons: readonly (readonly [title: string, edits: number, tokens: number])[];
  /** Whether the replay stopped early. */
  readonly hasStopped: boolean;
}

/** The data of the page. */
export interface FolderPage {
  readonly title: string;
  readonly isRedacted: boolean;
  readonly sessions: readonly FolderSession[];
  /** Number of files that could not be read as sessions. */
  readonly unreadFiles: number;
}

const MAX_REASONS = 5;
const MAX_TITLE = 80;

/** Returns the digest of a session of a folder. */
export function folderSession(
  { report, requests, rows, model }: Recording,
  label: ContentLabel,
  folder: string,
): FolderSession {
  const byDay = groupBy(requests, ({ atMs }) =>
    atMs === null ? '' : new Date(atMs).toISOString().slice(0, 10),
  );
  return {
    title: label.ofPath(relative(folder, report.file)),
    format: report.format,
    model: model === null ? null : label.ofName(model),
    input: report.money,
    days: new Map(Array.from(byDay, ([day, those]) => [day, sumInput(those)])),
    end: report.end.tokens,
    reasons: editGroups(rows)
      .slice(0, MAX_REASONS)
      .map(({ title, rows: edits, tokens }) => [title, edits.length, tokens]),
    hasStopped: report.exceeded !== null || report.compressionFailure !== null,
  };
}

/** Returns the content of the page. */
export function folderSections({ title, isRedacted, sessions, unreadFiles }: FolderPage): Markup {
  const input = sumInput(sessions.map((session) => session.input));
  const facts = [
    formatNumberOf(sessions.length, 'session'),
    formatNumberOf(input.requests, 'model call'),
    ...(unreadFiles === 0 ? [] : [`${formatNumberOf(unreadFiles, 'other file')} left out`]),
  ];
  const pricing = pricesSentence(sessions.map((session) => session.input.price));
  return html`${headlineSection({ title, isRedacted, facts, input, pricing, notices: [] })}
  ${daySection(sessions)} ${sessionSection(sessions)}`;
}

function daySection(sessions: readonly FolderSession[]): Markup {
  const all = sessions.flatMap(({ days }) => Array.from(days));
  const days = Array.from(groupBy(all, ([day]) => day))
    .map(([day, those]) => ({
      day,
      sessions: those.length,
      input: sumInput(those.map(([, input]) => input)),
    }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
  if (days.length === 0) return NOTHING;
  const top = Math.max(1, ...days.map(({ input }) => input.without.sentTokens));
  const head = [
    ...headCells(['day (UTC)']),
    html`<th scope="col" class="bars">
      <span><i class="swatch full"></i>sent</span> <span><i class="swatch spared"></i>saved</span>
    </th>`,
    ...headCells(
      ['sessions', 'calls', 'tokens without', 'with ctxfold', 'saved', 'cost'],
      'number',
    ),
  ];
  const rows = days.map(({ day, sessions: count, input }) => {
    const [before, now] = [input.without.sentTokens, input.with.sentTokens];
    const bars = html`<td class="bars">
      <svg aria-hidden="true">
        <rect class="spared" width="${percent(before, top)}" height="100%" />
        <rect class="full" width="${percent(Math.min(now, before), top)}" height="100%" />
      </svg>
    </td>`;
    const figures = [
      formatCount(count),
      formatCount(input.requests),
      formatCompact(before),
      formatCompact(now),
      formatShare(before - now, before),
      costsOf(input),
    ];
    return figureRow(day === '' ? 'not recorded' : day, figures, bars);
  });
  const heading = html`<h2 id="h-days">Day by day</h2>`;
  const table = tableMarkup({ attribute: 'id="days"', caption: 'Totals by day', head, rows });
  return html`<section aria-labelledby="h-days">${heading}${table}</section>`;
}

function costsOf({ with: now, without }: InputSums): string {
  return `${formatDollars(now.dollars)} of ${formatDollars(without.dollars)}`;
}

function sessionSection(sessions: readonly FolderSession[]): Markup {
  const bySize = largestFirst(sessions, ({ input }) => input.without.sentTokens);
  return html`<section aria-labelledby="h-sessions" id="sessions" data-filter>
    <h2 id="h-sessions">Sessions</h2>
    ${filterBar('sessions', [
      ['size', 'largest first'],
      ['saved', 'most saved first'],
      ['day', 'newest first'],
      ['name', 'by name'],
    ])}
    <div class="rows" data-items>${bySize.map(sessionRow)}</div>
  </section>`;
}

function sessionRow(session: FolderSession): Markup {
  const { title, format, model, input, days, end, reasons, hasStopped } = session;
  const [before, now] = [input.without.sentTokens, input.with.sentTokens];
  const day = Array.from(days.keys()).sort().at(-1) ?? '';
  return html`<details
    class="group session"
    data-item
    data-size="${before}"
    data-saved="${before - now}"
    data-day="${day.replaceAll('-', '')}"
  >
    <summary>
      <span class="what"
        ><b>${named(shortenStart(title, MAX_TITLE))}</b>
        <span class="faint"
          >${day === '' ? NOTHING : html`<time>${day}</time> · `}${model ?? format}</span
        ></span
      >
      <span class="number">${formatNumberOf(input.requests, 'call')}</span>
      <span class="number"
        >${formatCompact(now)} <span class="faint">of ${formatCompact(before)}</span></span
      >
      <span class="number">${formatSaving(before, now)}</span>
    </summary>
    <dl>
      <dt>input</dt>
      <dd>
        ${formatCount(now)} of ${formatCount(before)} tokens,
        ${formatShare(input.with.cacheReadTokens, now)} from the cache,
        ${formatNumberOf(input.rewrites, 'rewrite')}
      </dd>
      <dt>cost</dt>
      <dd>${costsOf(input)}</dd>
      <dt>at the end</dt>
      <dd>
        ${formatCount(end.with)} of ${formatCount(end.without)}
        tokens${hasStopped ? '; the replay stopped early' : ''}
      </dd>
      ${
        reasons.length === 0
          ? NOTHING
          : html`<dt>reclaimed</dt>
              <dd>
                <ul>
                  ${reasons.map(
                    ([reason, edits, tokens]) =>
                      html`<li>
                        ${reason}: ${formatCount(edits)}, ${formatCount(tokens)} tokens
                      </li>`,
                  )}
                </ul>
              </dd>`
      }
    </dl>
  </details>`;
}
