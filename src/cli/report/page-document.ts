// Shared by the pages of the report and of the gateway: loads the built script and style sheet, and renders the document around
// them. A page loads nothing from other servers.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { html, NOTHING, rawElement } from './html.js';
import type { Markup } from './html.js';

/** The inline script and style sheet of a page. Neither contains a closing tag of its element. */
export interface PageAssets {
  readonly script: string;
  readonly style: string;
}

/** Reads the built assets of a page. */
export async function readPageAssets(
  client: URL = new URL('./client.json', import.meta.url),
): Promise<PageAssets> {
  return JSON.parse(await readFile(client, 'utf8')) as PageAssets;
}

/** Returns the content security policy of a page. It allows only the page's own inline script and style, by their hashes. */
export function contentPolicy({ script, style }: PageAssets, ...more: readonly string[]): string {
  return [
    "default-src 'none'",
    `script-src '${hashOf(script)}'`,
    `style-src '${hashOf(style)}'`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    ...more,
  ].join('; ');
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}

/** The parts of a document. */
export interface DocumentParts {
  readonly title: string;
  /** Further elements of the head. */
  readonly head?: Markup;
  readonly body: Markup;
  readonly footer: string;
}

/** Returns an HTML document. */
export function pageDocument(
  { title, head = NOTHING, body, footer }: DocumentParts,
  { script, style }: PageAssets,
): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        ${head}
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title}</title>
        <link rel="icon" href="data:," />
        ${rawElement('style', style)}
      </head>
      <body>
        <main>${body}</main>
        <footer><p>${footer}</p></footer>
        ${rawElement('script', script)}
      </body>
    </html> `.text;
}
