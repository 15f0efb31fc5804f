// The head of a page: title, whether content is hidden, and the cost of the input with and without ctxfold.

import { sessionFacts, windowNotices } from '../replay/report-facts.js';
import { stopMessage } from '../replay/replay-report.js';
import type { ReplayReport } from '../replay/replay-report.js';
import {
  formatCompact,
  formatDollars,
  formatNumberOf,
  formatSaving,
} from '../terminal/text-layout.js';
import { html, named, NOTHING, percent } from './html.js';
import type { Markup } from './html.js';
import { pricesSentence } from '../replay/money.js';
import type { InputSums } from '../replay/money.js';
import type { ReportPage } from './report-page.js';

/** The data of the head of a page. */
export interface PageHead {
  readonly title: string;
  readonly isRedacted: boolean;
  /** What was played, and with which settings. */
  readonly facts: readonly string[];
  readonly input: InputSums;
  /** Which prices apply. */
  readonly pricing: string;
  /** Warnings shown before the numbers. */
  readonly notices: readonly Markup[];
}

/** Returns the head of a page. */
export function headlineSection(head: PageHead): Markup {
  const { title, isRedacted, facts, input, notices } = head;
  return html`<header>
      <p>
        Context
        report${isRedacted ? html` <span class="badge">Session content is hidden</span>` : html` <span class="badge open">Shows session content</span>`}
      </p>
      <h1>${named(title, 160)}</h1>
      <p>${facts.join(' · ')}</p>
    </header>
    ${
      notices.length === 0
        ? NOTHING
        : html`<ul class="notices">
            ${notices.map((notice) => html`<li>${notice}</li>`)}
          </ul>`
    }
    ${input.requests === 0 ? NOTHING : figure(head)}`;
}

function figure({ input, pricing }: PageHead): Markup {
  const { with: left, without, requests } = input;
  const [now, before] = [left.dollars, without.dollars];
  const bar = (kind: string, value: number): Markup =>
    html`<svg class="${kind}" aria-hidden="true">
      <rect width="${percent(value, Math.max(now, before, 1e-9))}" height="100%" rx="3" />
    </svg>`;
  return html`<section aria-labelledby="h-cost" class="headline" id="cost">
    <h2 id="h-cost">
      Input costs <b>${formatDollars(now)}</b> with ctxfold,
      <b class="before">${formatDollars(before)}</b> without:
      <em>${formatSaving(before, now)}</em>
    </h2>
    <dl class="versus">
      <dt>with ctxfold</dt>
      <dd>${bar('full', now)}</dd>
      <dt>without</dt>
      <dd>${bar('spared', before)}</dd>
    </dl>
    <p>
      ${formatCompact(left.sentTokens)} of ${formatCompact(without.sentTokens)} tokens were sent in
      ${formatNumberOf(requests, 'model call')}.
    </p>
    <details>
      <summary>Prices</summary>
      <p>${pricing}</p>
    </details>
  </section>`;
}

/** Returns the data of the head of a session's page. */
export function sessionHead({ title, recording, label }: ReportPage): PageHead {
  const { report, model } = recording;
  return {
    title,
    isRedacted: label.isRedacted,
    facts: sessionFacts(report, model === null ? null : label.ofName(model)),
    input: report.money,
    pricing: pricesSentence([report.money.price]),
    notices: noticesOf(report, label.isRedacted),
  };
}

function noticesOf(replay: ReplayReport, isRedacted: boolean): readonly Markup[] {
  const { compressionFailure, exceeded, entries } = replay;
  // With redaction, show fixed texts and codes only: error messages may quote the session.
  const stop = [
    ...(exceeded === null ? [] : ['The session no longer fit the context window.']),
    ...(compressionFailure === null ? [] : [`A compression failed: ${compressionFailure.code}.`]),
  ].join(' ');
  return [
    ...(entries === 0 ? ['The transcript has no entries: nothing to show.'] : []),
    ...windowNotices(replay, isRedacted ? stop || null : stopMessage(replay)),
  ].map((notice) => named(notice, 500));
}
