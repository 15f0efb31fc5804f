// The page as a whole: one document that asks for nothing from anywhere. Its policy allows the script and
// the style in it by their hashes, and nothing else.

import { createHash } from 'node:crypto';
import { cacheSection } from './cache-section.js';
import { chartSection } from './chart-section.js';
import type { ClientAsset } from './client-asset.js';
import { editsSection } from './edits-section.js';
import { folderSections } from './folder-page.js';
import type { FolderPage } from './folder-page.js';
import { headlineSection } from './headline-section.js';
import { html, Markup, rawElement, scriptJson } from './html.js';
import { lifeSection } from './life-section.js';
import type { ReportPage } from './report-page.js';
import { runSection } from './run-section.js';
import { sessionHead } from './session-head.js';
import { settingsSection } from './settings-section.js';
import { windowSection, windowStyle } from './window-section.js';

/** What the page needs besides its data. */
export interface PageAssets {
  /** Style sheet of the page. */
  readonly style: string;
  readonly client: ClientAsset;
}

/** What a document consists of. */
interface Document {
  readonly title: string;
  readonly body: Markup;
  /** Rules that put things in their place. */
  readonly styles: string;
  /** What the script draws. */
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
        <title>Context report: ${title}</title>
        <link rel="icon" href="data:," />
        ${rawElement('style', styles)}
      </head>
      <body>
        <main>${body}</main>
        <footer>
          <p>
            Made by ctxfold. What was recorded without it was played through it; tokens are counted
            with the encoding o200k.
          </p>
        </footer>
        ${rawElement('script type="application/json" id="data"', scriptJson(data))}
        ${rawElement('script', client.script)}
      </body>
    </html> `.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
