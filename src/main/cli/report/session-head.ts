// What the head of a session's page says: facts, prices and notices.

import { stopMessage } from '../replay/replay-report.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { formatCount, formatNumberOf } from '../terminal/text-layout.js';
import type { PageHead } from './headline-section.js';
import { html, named } from './html.js';
import type { Markup } from './html.js';
import { pricesSentence } from '../replay/money.js';
import type { ReportPage } from './report-page.js';

/** Returns what the head of the page says. */
export function sessionHead({ title, recording, label }: ReportPage): PageHead {
  const { report, model } = recording;
  return {
    title,
    isRedacted: label.isRedacted,
    facts: factsOf(report, model === null ? null : label.ofName(model)),
    input: report.money,
    pricing: pricesSentence([report.money.price]),
    notices: noticesOf(report, label.isRedacted),
  };
}

function factsOf(report: ReplayReport, model: string | null): readonly string[] {
  const { format, entries, playedEntries, modelCalls, settings } = report;
  const played = playedEntries < entries ? `${formatCount(playedEntries)} of ` : '';
  return [
    format,
    ...(model === null ? [] : [model]),
    played + formatNumberOf(entries, 'entry', 'entries'),
    formatNumberOf(modelCalls.length, 'model call'),
    `window of ${formatCount(settings.contextLimit)}`,
    settings.strategy,
  ];
}

function noticesOf(replay: ReplayReport, isRedacted: boolean): readonly Markup[] {
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
  return [
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
}
