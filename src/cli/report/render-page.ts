// The pages of a session and of a folder: self-contained documents that request nothing.

import type { ChartData } from './chart-data.js';
import { cacheSection } from './cache-section.js';
import { chartSection } from './chart-section.js';
import { editsSection } from './edits-section.js';
import { folderSections } from './folder-page.js';
import type { FolderPage } from './folder-page.js';
import { headlineSection, sessionHead } from './headline-section.js';
import { html, Markup, rawElement, scriptJson } from './html.js';
import { lifeSection } from './life-section.js';
import { contentPolicy, pageDocument } from './page-document.js';
import type { PageAssets } from './page-document.js';
import type { ReportPage } from './report-page.js';
import { runSection } from './run-section.js';
import { settingsSnippet } from '../replay/settings-snippet.js';
import { windowSection, windowStyle } from './window-section.js';

/** How the title of each page begins. */
export const TITLE = 'Context report: ';

/** Returns the page of a session as an HTML document. */
export function renderPage(page: ReportPage, assets: PageAssets): string {
  const body = html`${headlineSection(sessionHead(page))} ${chartSection(page.chart)}
  ${cacheSection(page)} ${windowSection(page)} ${lifeSection(page)} ${editsSection(page)}
  ${settingsSection(page)} ${runSection(page)}`;
  const style = assets.style + windowStyle(page);
  return renderDocument(page.title, body, page.chart, { ...assets, style });
}

/** Returns the settings that the session was played with, as code to paste. */
function settingsSection({ recording: { report: replay }, contextLimit }: ReportPage): Markup {
  const code = settingsSnippet({ ...replay.settings, contextLimit }, replay.money.price);
  const byModel =
    contextLimit === null ? ' The model decides on the context limit: adapters name it.' : '';
  return html`<section aria-labelledby="h-settings">
    <h2 id="h-settings">Settings</h2>
    <p>The settings behind these figures, ready to paste.${byModel}</p>
    <div class="snippet">
      <button type="button" data-copy="snippet">Copy</button>
      <pre id="snippet" tabindex="0">${code}</pre>
    </div>
  </section>`;
}

/** Returns the page of a folder as an HTML document. */
export function renderFolderPage(page: FolderPage, assets: PageAssets): string {
  return renderDocument(page.title, folderSections(page), null, assets);
}

/** @param data the data of the chart */
function renderDocument(
  title: string,
  body: Markup,
  data: ChartData | null,
  assets: PageAssets,
): string {
  const head = html`<meta
      http-equiv="Content-Security-Policy"
      content="${new Markup(contentPolicy(assets))}"
    />
    <meta name="referrer" content="no-referrer" />`;
  return pageDocument(
    {
      title: `${TITLE}${title}`,
      head,
      body: html`${body} ${rawElement('script type="application/json" id="data"', scriptJson(data))}`,
      footer:
        'Made by ctxfold: recorded without it, then played through it. Tokens are counted with the o200k encoding.',
    },
    assets,
  );
}
