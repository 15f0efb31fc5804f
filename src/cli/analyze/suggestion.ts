// Renders the configuration with which sessions were analyzed as code to paste, below a comment with the resulting figures.

import { settingsSnippet } from '../replay/settings-snippet.js';
import { printable } from '../terminal/terminal-text.js';
import { formatNumberOf, formatShare, shortenStart, wrap } from '../terminal/text-layout.js';
import type { AnalysisReport } from './analysis-report.js';

/**
 * Returns the comment and the code, ending with a line break.
 *
 * @param workspaceRoot the directory of relative paths, if the user gave it
 */
export function renderSuggestion(
  { path, isFolder, sessions, totals, settings }: AnalysisReport,
  width: number,
  workspaceRoot?: string,
): string {
  const { input, modelCalls } = totals;
  const saved = formatShare(input.without - input.with, input.without);
  // A price from the user applies to all sessions, so the first session has it.
  const price = sessions[0]?.money.price;
  const byModel = [
    ...(settings.contextLimit === null ? ['context limit'] : []),
    ...(price?.origin === 'given' ? [] : ['prices']),
  ];
  const room = width - COMMENT.length;
  const figures =
    modelCalls === 0
      ? 'No figures: there are no model calls in'
      : `${saved} less input over ${formatNumberOf(modelCalls, 'model call')} of`;
  const comments = [
    `${figures} ` +
      `${isFolder ? formatNumberOf(sessions.length, 'session') : shortenStart(printable(path), room - 1)}.`,
    ...(byModel.length === 0
      ? []
      : [
          `The model decides on the ${byModel.join(' and the ')}: ` +
            'adapters name it, others call session.history.nameModel.',
        ]),
  ];
  const code = settingsSnippet(
    {
      strategy: 'high-density',
      workspaceRoot,
      contextLimit: settings.contextLimit,
      recencyRetention: settings.recencyRetention,
    },
    price,
  );
  const lines = comments.flatMap((comment) => wrap(comment, room).map((line) => COMMENT + line));
  return `${[...lines, code].join('\n')}\n`;
}

const COMMENT = '// ';
