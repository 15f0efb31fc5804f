// The page about a folder of sessions: one figure, totals by day, and the sessions as a list in which each one opens. What a
// session's own page shows in full is not kept: a folder may hold hundreds of them.

import type { TokenPair } from '../replay/replay-report.js';
import { groupBy } from '../measure/group-by.js';
import {
  formatCompact,
  formatCount,
  formatNumberOf,
  formatShare,
} from '../terminal/text-layout.js';
import type { ContentLabel } from '../terminal/content-label.js';
import { editGroups } from './edit-groups.js';
import { filterBar } from './filter-bar.js';
import { headlineSection } from './headline-section.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import { share } from './life-section.js';
import {
  addInput,
  formatDollars,
  formatSaving,
  pricesSentence,
  sumInput,
} from '../replay/money.js';
import type { InputSums, Money } from '../replay/money.js';
import type { Recording } from '../replay/recording.js';

/** What the page says of one session. */
export interface FolderSession {
  readonly title: string;
  readonly format: string;
  readonly model: string | null;
  readonly input: Money;
  /** By day, as `2026-01-31` in UTC; empty for calls whose time nobody recorded. */
  readonly days: ReadonlyMap<string, InputSums>;
  readonly end: TokenPair;
  /** Why edits were made, how many there were and what they gave back; most first. */
  readonly reasons: readonly (readonly [title: string, edits: number, tokens: number])[];
  /** Whether it could not be played to its end. */
  readonly hasStopped: boolean;
}

/** What the page is made from. */
export interface FolderPage {
  readonly title: string;
  readonly isRedacted: boolean;
  readonly sessions: readonly FolderSession[];
  /** Files that are no sessions, or damaged ones. */
  readonly unreadFiles: number;
}

const MAX_REASONS = 5;

/** Returns what the page keeps of a session. */
export function folderSession(
  { report, requests, rows, model }: Recording,
  label: ContentLabel,
): FolderSession {
  const byDay = groupBy(requests, ({ atMs }) =>
    atMs === null ? '' : new Date(atMs).toISOString().slice(0, 10),
  );
  return {
    title: label.ofPath(report.file),
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

/** Returns what stands in the page. */
export function folderSections({ title, isRedacted, sessions, unreadFiles }: FolderPage): Markup {
  const input = addInput(sessions.map((session) => session.input));
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
      input: addInput(those.map(([, input]) => input)),
    }))
    .sort((a, b) => (a.day < b.day ? -1 : 1));
  if (days.length === 0) return NOTHING;
  const top = Math.max(1, ...days.map(({ input }) => input.without.sentTokens));
  return html`<section aria-labelledby="h-days">
    <h2 id="h-days">Day by day</h2>
    <div class="scroll">
      <table id="days">
        <caption class="hidden">
          Totals by day
        </caption>
        <thead>
          <tr>
            <th scope="col">day (UTC)</th>
            <th scope="col" class="bars">
              <i class="swatch full"></i>sent <i class="swatch spared"></i>saved
            </th>
            <th scope="col" class="number">sessions</th>
            <th scope="col" class="number">calls</th>
            <th scope="col" class="number">without</th>
            <th scope="col" class="number">with ctxfold</th>
            <th scope="col" class="number">cost</th>
            <th scope="col" class="number">saved</th>
          </tr>
        </thead>
        <tbody>
          ${days.map(({ day, sessions: count, input }) => {
            const [before, now] = [input.without.sentTokens, input.with.sentTokens];
            return html`<tr>
              <th scope="row">${day === '' ? 'not recorded' : day}</th>
              <td class="bars">
                <svg aria-hidden="true">
                  <rect class="spared" width="${share(before, top)}" height="100%" />
                  <rect class="full" width="${share(Math.min(now, before), top)}" height="100%" />
                </svg>
              </td>
              <td class="number">${formatCount(count)}</td>
              <td class="number">${formatCount(input.requests)}</td>
              <td class="number">${formatCompact(before)}</td>
              <td class="number">${formatCompact(now)}</td>
              <td class="number">${costsOf(input)}</td>
              <td class="number">${formatShare(before - now, before)}</td>
            </tr>`;
          })}
        </tbody>
      </table>
    </div>
  </section>`;
}

function costsOf({ with: now, without }: InputSums): string {
  return `${formatDollars(now.dollars)} of ${formatDollars(without.dollars)}`;
}

function sessionSection(sessions: readonly FolderSession[]): Markup {
  const bySize = [...sessions].sort(
    (a, b) => b.input.without.sentTokens - a.input.without.sentTokens,
  );
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
        ><b>${named(title)}</b>
        <span class="faint"
          >${[day, model ?? format].filter((part) => part !== '').join(' · ')}</span
        ></span
      >
      <span class="number">${formatNumberOf(input.requests, 'call')}</span>
      <span class="number"
        >${formatCompact(now)} <span class="faint">of ${formatCompact(before)}</span></span
      >
      <span class="number">${formatSaving(before, now)}</span>
    </summary>
    <dl class="details">
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
        tokens${hasStopped ? '; it could not be played any further' : ''}
      </dd>
      ${
        reasons.length === 0
          ? NOTHING
          : html`<dt>given back</dt>
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
