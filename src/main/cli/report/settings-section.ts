// The settings that the session was played with, as code to paste.

import type { Transcript } from '../../../transcripts.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { html } from './html.js';
import type { Markup } from './html.js';

/** Returns the section. */
export function settingsSection(report: ReplayReport): Markup {
  return html`<section aria-labelledby="h-settings">
    <h2 id="h-settings">These settings</h2>
    <p>What the figures of this page were made with, ready to paste.</p>
    <div class="snippet">
      <button type="button" data-copy="snippet">Copy</button>
      <pre id="snippet" tabindex="0">${settingsSnippet(report)}</pre>
    </div>
  </section>`;
}

/** Returns code that makes sessions like the one that was played. */
export function settingsSnippet({
  settings,
  format,
}: Pick<ReplayReport, 'settings'> & Pick<Transcript, 'format'>): string {
  const given: Readonly<Record<string, unknown>> = {
    'compression.strategy': settings.strategy,
    'compression.threshold': settings.threshold,
    'compression.preserveThreshold': settings.preserveThreshold,
    'compression.topPreserveThreshold': settings.topPreserveThreshold,
    'compression.density.recencyPruning': settings.recencyRetention === null ? null : true,
    'compression.density.recencyRetention': settings.recencyRetention,
  };
  const lines = Object.entries(given)
    .filter(([, value]) => value !== null)
    .map(
      ([key, value]) =>
        `    '${key}': ${typeof value === 'string' ? `'${value}'` : String(value)},`,
    );
  return [
    `import { agentPreset, createCompactor } from 'ctxfold';`,
    '',
    'const compactor = createCompactor({',
    `  contextLimit: ${settings.contextLimit},`,
    '  settings: {',
    ...lines,
    '  },',
    ...(settings.summarizer === null
      ? []
      : [
          '  // summarizer: fromLanguageModel(yourModel, { contextLimit }), which this strategy needs',
        ]),
    '});',
    `const session = await compactor.createSession({ density: agentPreset('${format}'), edits: 'every-turn' });`,
  ].join('\n');
}
