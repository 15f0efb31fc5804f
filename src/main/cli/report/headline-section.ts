// The first thing on the page: what is left of the window, what was saved, and how full the window is.

import { stopMessage } from '../replay/replay-report.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { formatCount, formatNumberOf, formatShare } from '../terminal/text-layout.js';
import { html, named, NOTHING } from './html.js';
import type { Markup } from './html.js';
import type { ReportPage } from './report-page.js';

/** Returns the head of the page. */
export function headlineSection({ title, replay, label }: ReportPage): Markup {
  const { end, input, settings, modelCalls } = replay;
  const { contextLimit } = settings;
  const left = (used: number): number => Math.max(0, contextLimit - used);
  return html`<header>
      <h1>Context report</h1>
      <p class="name">${named(title, 160)}</p>
      <p class="facts">${factsOf(replay)}</p>
    </header>
    ${noticeOf(replay, label.isRedacted)}
    <section aria-labelledby="h-left" class="headline">
      <h2 id="h-left" class="hidden">What is left and what was saved</h2>
      <dl class="tiles">
        <div class="tile main">
          <dt>left in the window</dt>
          <dd>
            <b>${formatCount(left(end.tokens.with))}</b>
            <span
              >tokens, ${formatShare(left(end.tokens.with), contextLimit)} of
              ${formatCount(contextLimit)}</span
            >
          </dd>
          <dd class="side">without ctxfold: ${leftOf(end.tokens.without, contextLimit)}</dd>
        </div>
        <div class="tile">
          <dt>saved in the history at the end</dt>
          <dd><b>${formatShare(end.tokens.without - end.tokens.with, end.tokens.without)}</b></dd>
          <dd class="side">${savedOf(end.tokens)}</dd>
        </div>
        <div class="tile">
          <dt>saved over ${formatNumberOf(modelCalls.length, 'model call')}</dt>
          <dd><b>${formatShare(input.without - input.with, input.without)}</b></dd>
          <dd class="side">${savedOf(input)}</dd>
        </div>
      </dl>
      <div class="scroll">
        <table class="figures wide" id="totals">
          <caption class="hidden">
            Tokens with and without ctxfold
          </caption>
          <thead>
            <tr>
              <th scope="col">tokens</th>
              <th scope="col">without ctxfold</th>
              <th scope="col">with ctxfold</th>
              <th scope="col">saved</th>
              <th scope="col">share</th>
            </tr>
          </thead>
          <tbody>
            ${[row('history at the end', end.tokens), row('sent, all model calls', input)]}
          </tbody>
        </table>
      </div>
    </section>`;
}

function leftOf(used: number, contextLimit: number): string {
  return used > contextLimit
    ? `none, ${formatCount(used - contextLimit)} too many`
    : formatCount(contextLimit - used);
}

function savedOf(pair: { readonly without: number; readonly with: number }): string {
  return `${formatCount(pair.without - pair.with)} of ${formatCount(pair.without)} tokens`;
}

function row(what: string, pair: { readonly without: number; readonly with: number }): Markup {
  const saved = pair.without - pair.with;
  return html`<tr>
    <th scope="row">${what}</th>
    <td>${formatCount(pair.without)}</td>
    <td>${formatCount(pair.with)}</td>
    <td>${formatCount(saved)}</td>
    <td>${formatShare(saved, pair.without)}</td>
  </tr>`;
}

function factsOf({ format, entries, playedEntries, modelCalls, settings }: ReplayReport): string {
  const played = playedEntries < entries ? `${formatCount(playedEntries)} of ` : '';
  return [
    format,
    played + formatNumberOf(entries, 'entry', 'entries'),
    formatNumberOf(modelCalls.length, 'model call'),
    `context window ${formatCount(settings.contextLimit)}`,
    settings.strategy,
    ...(settings.threshold === null ? [] : [`threshold ${settings.threshold}`]),
    ...(settings.recencyRetention === null ? [] : [`recency ${settings.recencyRetention}`]),
    `offload ${settings.offload}`,
  ].join(' · ');
}

/** What a reader must know before the numbers. */
function noticeOf(replay: ReplayReport, isRedacted: boolean): Markup {
  const { firstCallOverLimit, compressionFailure, exceeded, entries, settings } = replay;
  // The texts of failures may quote the session.
  const stop = isRedacted
    ? [
        ...(exceeded === null ? [] : ['The session did not fit the context window any more.']),
        ...(compressionFailure === null
          ? []
          : [`A compression failed: ${compressionFailure.code}.`]),
      ].join(' ')
    : (stopMessage(replay) ?? '');
  const notices = [
    ...(entries === 0 ? [html`The transcript holds no entries: there is nothing to show.`] : []),
    ...(stop === ''
      ? []
      : [html`Stopped before model call ${replay.modelCalls.length + 1}: ${named(stop, 500)}`]),
    ...(firstCallOverLimit === null
      ? []
      : [
          html`Without ctxfold, model call ${formatCount(firstCallOverLimit)} would not have fitted
          the window of ${formatCount(settings.contextLimit)} tokens.`,
        ]),
  ];
  if (notices.length === 0) return NOTHING;
  return html`<ul class="notices">
    ${notices.map((notice) => html`<li>${notice}</li>`)}
  </ul>`;
}
