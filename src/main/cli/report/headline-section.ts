// The first thing on a page: whose it is, whether content is hidden, and one figure: what the input cost, and would have.

import { formatCount, formatCompact } from '../terminal/text-layout.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import { share } from './life-section.js';
import { formatDollars, formatSaving } from '../replay/money.js';
import type { InputSums } from '../replay/money.js';

/** What the head of a page says. */
export interface PageHead {
  readonly title: string;
  readonly isRedacted: boolean;
  /** What was played, and by what settings. */
  readonly facts: readonly string[];
  readonly input: InputSums;
  /** What the prices are those of. */
  readonly pricing: string;
  /** What a reader must know before the numbers. */
  readonly notices: readonly Markup[];
}

/** Returns the head of a page. */
export function headlineSection(head: PageHead): Markup {
  const { title, isRedacted, facts, input, notices } = head;
  return html`<header>
      <p class="eyebrow">
        Context
        report${isRedacted ? html` <span class="badge">Content of the session is hidden</span>` : html` <span class="badge open">Shows content of the session</span>`}
      </p>
      <h1>${named(title, 160)}</h1>
      <p class="facts">${facts.join(' · ')}</p>
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
      <rect width="${share(value, Math.max(now, before, 1e-9))}" height="100%" rx="3" />
    </svg>`;
  return html`<section aria-labelledby="h-cost" class="headline" id="cost">
    <h2 id="h-cost">
      <b>${formatDollars(now)}</b> of input with ctxfold,
      <b class="before">${formatDollars(before)}</b> without:
      <em>${formatSaving(before, now)}</em>
    </h2>
    <dl class="versus">
      <dt>with ctxfold</dt>
      <dd>${bar('with', now)}</dd>
      <dt>without</dt>
      <dd>${bar('without', before)}</dd>
    </dl>
    <p>
      ${formatCompact(left.sentTokens)} of ${formatCompact(without.sentTokens)} tokens were sent in
      ${formatCount(requests)} model calls. ${pricing}
    </p>
  </section>`;
}
