// Money and cache: the input tokens of each call that were cache reads and those at full price, as bars and as a table, and the
// totals under other edit policies. Works without a script.

import type { EditPolicy } from '../../index.js';
import {
  formatCount,
  formatDollars,
  formatNumberOf,
  formatSaving,
  formatShare,
} from '../terminal/text-layout.js';
import { areaOf, callChart, lineOf } from './call-chart.js';
import { figureRow, headCells, html, NOTHING, tableMarkup } from './html.js';
import type { Markup } from './html.js';
import { maxOf } from '../measure/aggregate.js';
import { savedByItem } from '../replay/money.js';
import type { InputSum, InputSums, RecordedRequest } from '../replay/money.js';
import type { ReportPage } from './report-page.js';

/** Returns the section. */
export function cacheSection(page: ReportPage): Markup {
  const { recording, policies } = page;
  const { requests, report } = recording;
  if (requests.length === 0) return NOTHING;
  const cold = requests.filter(({ isCold }, at) => isCold && at > 0).length;
  return html`<section aria-labelledby="h-cache">
    <h2 id="h-cache">Cost and cache</h2>
    <p>
      The provider reads the prefix that a call shares with the previous one from its cache, for a
      fraction of the price. An edit before the end is a rewrite: everything after it is paid in
      full once. ${cold === 0 ? '' : `The cache was cold ${formatNumberOf(cold, 'time')}.`}
    </p>
    <ul class="legend">
      <li><i class="swatch full"></i>paid in full</li>
      <li><i class="swatch hit"></i>read from the cache</li>
      <li><i class="line without"></i>sent without ctxfold</li>
      <li>${REWRITE} rewrite</li>
    </ul>
    ${bars(requests)}
    <div class="pair">
      ${sums(report.money)} ${policies.length < 2 ? NOTHING : policyTable(page)}
    </div>
  </section>`;
}

const REWRITE = '▼';

function bars(requests: readonly RecordedRequest[]): Markup {
  const before = requests.map(({ without }) => without.sentTokens);
  const sent = requests.map((request) => request.with.sentTokens);
  const read = requests.map((request) => request.with.cacheReadTokens);
  const top = Math.max(1, maxOf(before), maxOf(sent));
  const rewrites = requests.flatMap((request, at) => (request.rewrites > 0 ? [at] : []));
  return callChart({
    names: requests.map((_, at) => `${at + 1}`),
    top,
    label: `Input of each of ${requests.length} calls; the table below has the totals.`,
    paths: [
      html`<path class="full" d="${areaOf(sent, top)}" />`,
      html`<path class="hit" d="${areaOf(read, top)}" />`,
      html`<path class="without" d="${lineOf(before, top)}" />`,
    ],
    marks: [{ sign: REWRITE, calls: rewrites }],
  });
}

function sums(input: InputSums): Markup {
  const { with: left, without, rewrites } = input;
  const paid = (sum: InputSum): number => sum.sentTokens - sum.cacheReadTokens;
  const hits = (sum: InputSum): string => formatShare(sum.cacheReadTokens, sum.sentTokens);
  const row = (what: string, before: number, now: number, format: (value: number) => string) =>
    figureRow(what, [format(before), format(now), formatSaving(before, now)]);
  const head = [
    ...headCells([html`<span class="hidden">what</span>`]),
    ...headCells(['without', 'with ctxfold', 'saved'], 'number'),
  ];
  const rows = [
    row('tokens sent', without.sentTokens, left.sentTokens, formatCount),
    row('paid in full', paid(without), paid(left), formatCount),
    row('read from the cache', without.cacheReadTokens, left.cacheReadTokens, formatCount),
    row('cost', without.dollars, left.dollars, formatDollars),
    ...savedByItem(input).map(([item, dollars]) =>
      figureRow(`saved by ${item}`, ['', '', formatDollars(dollars)]),
    ),
    figureRow('cache hits', [hits(without), hits(left), '']),
    figureRow('rewrites', ['0', formatCount(rewrites), '']),
  ];
  const caption = 'Input with and without ctxfold';
  const heading = html`<h3>Input of all calls</h3>`;
  const table = tableMarkup({ attribute: 'id="totals"', caption, head, rows });
  return html`<div>${heading}${table}</div>`;
}

const POLICIES: Readonly<Record<EditPolicy, string>> = {
  'every-turn': 'at once',
  auto: 'when worth a rewrite',
  batched: 'when worth a rewrite',
  'append-only': 'when worth a rewrite and no reasoning is lost',
  'at-birth': 'only unsent content',
};

function policyTable({ recording: { report: replay }, policies }: ReportPage): Markup {
  const row = (name: Markup, sum: InputSum, rewrites: number, tokensAtEnd: number): Markup =>
    figureRow(name, [
      formatDollars(sum.dollars),
      formatCount(sum.sentTokens),
      formatShare(sum.cacheReadTokens, sum.sentTokens),
      formatCount(rewrites),
      formatCount(tokensAtEnd),
    ]);
  const head = [
    ...headCells([html`<code>edits</code>`]),
    // Ordered by importance: a narrow screen shows only the first columns.
    ...headCells(['cost', 'tokens sent', 'from cache', 'rewrites', 'at the end'], 'number'),
  ];
  const rows = [
    row(html`no edits`, replay.money.without, 0, replay.end.tokens.without),
    ...policies.map(({ policy, report: { money, end } }) => {
      const name = html`<code>${policy}</code> <span class="faint">${POLICIES[policy]}</span>`;
      return row(name, money.with, money.rewrites, end.tokens.with);
    }),
  ];
  const caption = 'Edit policies compared';
  const heading = html`<h3>When edits land: policies compared</h3>`;
  const table = tableMarkup({ attribute: 'id="policies"', caption, head, rows });
  return html`<div>${heading}${table}</div>`;
}
