// The page: one self-contained document that requests nothing. Its content security policy allows only the
// inline script and style, by their hashes.

import { cacheSection } from './cache-section.js';
import { chartSection } from './chart-section.js';
import { policyHash } from './client-asset.js';
import type { ClientAsset } from './client-asset.js';
import { editsSection } from './edits-section.js';
import { folderSections } from './folder-page.js';
import type { FolderPage } from './folder-page.js';
import { headlineSection, sessionHead } from './headline-section.js';
import { html, Markup, rawElement, scriptJson } from './html.js';
import { lifeSection } from './life-section.js';
import type { ReportPage } from './report-page.js';
import type { ReplayReport } from '../replay/replay-report.js';
import { runSection } from './run-section.js';
import { settingsSnippet } from '../replay/settings-snippet.js';
import { windowSection, windowStyle } from './window-section.js';

/** The script and styles of a page. */
export interface PageAssets {
  /** Style sheet of the page. */
  readonly style: string;
  readonly client: ClientAsset;
}

/** The parts of a document. */
interface Document {
  readonly title: string;
  readonly body: Markup;
  /** Style rules for positions. */
  readonly styles: string;
  /** Data of the chart. */
  readonly data: unknown;
}

/** Returns the page of a session as an HTML document. */
export function renderPage(page: ReportPage, assets: PageAssets): string {
  const body = html`${headlineSection(sessionHead(page))} ${chartSection(page.chart)}
  ${cacheSection(page)} ${windowSection(page)} ${lifeSection(page)} ${editsSection(page)}
  ${settingsSection(page.recording.report)} ${runSection(page)}`;
  const { title, chart: data } = page;
  return renderDocument({ title, body, styles: windowStyle(page), data }, assets);
}

/** Returns the settings that the session was played with, as code to paste. */
function settingsSection({ settings, money }: ReplayReport): Markup {
  return html`<section aria-labelledby="h-settings">
    <h2 id="h-settings">Settings</h2>
    <p>The settings behind these figures, ready to paste.</p>
    <div class="snippet">
      <button type="button" data-copy="snippet">Copy</button>
      <pre id="snippet" tabindex="0">${settingsSnippet(settings, money.price)}</pre>
    </div>
  </section>`;
}

/** Returns the page of a folder as an HTML document. */
export function renderFolderPage(page: FolderPage, assets: PageAssets): string {
  const { title } = page;
  return renderDocument({ title, body: folderSections(page), styles: '', data: null }, assets);
}

function renderDocument(
  { title, body, styles: places, data }: Document,
  { style, client }: PageAssets,
): string {
  const styles = client.style + style + places;
  const policy = [
    "default-src 'none'",
    `script-src '${policyHash(client.script)}'`,
    `style-src '${policyHash(styles)}'`,
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
        <title>Context report: ${title}</title>
        <link rel="icon" href="data:," />
        ${rawElement('style', styles)}
      </head>
      <body>
        <main>${body}</main>
        <footer>
          <p>
            Made by ctxfold: recorded without it, then played through it. Tokens are counted with
            the o200k encoding.
          </p>
        </footer>
        ${rawElement('script type="application/json" id="data"', scriptJson(data))}
        ${rawElement('script', client.script)}
      </body>
    </html> `.text;
}
