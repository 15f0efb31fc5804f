// The page as a whole: one document that asks for nothing from anywhere. Its policy allows the script and
// the style in it by their hashes, and nothing else.

import { createHash } from 'node:crypto';
import { chartSection } from './chart-section.js';
import type { ClientAsset } from './client-asset.js';
import { compositionSection, compositionStyle } from './composition-section.js';
import { headlineSection } from './headline-section.js';
import { html, Markup, rawElement, scriptJson } from './html.js';
import { ledgerSection } from './ledger-section.js';
import type { ReportPage } from './report-page.js';
import { runSection } from './run-section.js';
import { toolSection } from './tool-section.js';

/** What the page needs besides its data. */
export interface PageAssets {
  /** Style sheet of the page. */
  readonly style: string;
  readonly client: ClientAsset;
}

/** Returns the page as an HTML document. */
export function renderPage(page: ReportPage, { style, client }: PageAssets): string {
  const styles = client.style + style + compositionStyle(page.chart);
  const policy = [
    "default-src 'none'",
    `script-src '${hashOf(client.script)}'`,
    `style-src '${hashOf(styles)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content="${new Markup(policy)}" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="referrer" content="no-referrer" />
        <meta name="robots" content="noindex" />
        <title>Context report: ${page.title}</title>
        <link rel="icon" href="data:," />
        ${rawElement('style', styles)}
      </head>
      <body>
        <main>
          ${headlineSection(page)} ${chartSection(page.chart)}
          <div class="pair">${compositionSection(page.chart)} ${toolSection(page)}</div>
          ${ledgerSection(page)} ${runSection(page)}
        </main>
        <footer>
          <p>
            Made by ctxfold. Tokens are counted with the encoding
            o200k.${page.label.isRedacted ? ' Content of the session is hidden.' : ''}
          </p>
        </footer>
        ${rawElement('script type="application/json" id="data"', scriptJson(page.chart))}
        ${rawElement('script', client.script)}
      </body>
    </html> `.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
