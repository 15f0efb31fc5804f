// The settings that the session was played with, as code to paste.

import type { ReplayReport } from '../replay/replay-report.js';
import { settingsSnippet } from '../replay/settings-snippet.js';
import { html } from './html.js';
import type { Markup } from './html.js';

/** Returns the section. */
export function settingsSection({ settings, money }: ReplayReport): Markup {
  return html`<section aria-labelledby="h-settings">
    <h2 id="h-settings">These settings</h2>
    <p>What the figures of this page were made with, ready to paste.</p>
    <div class="snippet">
      <button type="button" data-copy="snippet">Copy</button>
      <pre id="snippet" tabindex="0">${settingsSnippet(settings, money.price)}</pre>
    </div>
  </section>`;
}
