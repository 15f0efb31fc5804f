// The live page of the gateway: one self-contained document that requests only the gateway's own figures. Its content security
// policy allows the inline script and style by their hashes.

import { readFile } from 'node:fs/promises';
import type { GatewayPage } from '../../../gateway.js';
import { policyHash, readPageStyle } from '../report/client-asset.js';
import { html, rawElement } from '../report/html.js';
import type { Markup } from '../report/html.js';

/** Reads the built script and returns the page. */
export async function gatewayPage(): Promise<GatewayPage> {
  const [client, own, shared] = await Promise.all([
    readFile(new URL('./client.json', import.meta.url), 'utf8'),
    readFile(new URL('./gateway.css', import.meta.url), 'utf8'),
    readPageStyle(),
  ]);
  const { script } = JSON.parse(client) as { readonly script: string };
  const style = shared + own;
  return {
    html: document(script, style),
    contentSecurityPolicy: [
      "default-src 'none'",
      `script-src '${policyHash(script)}'`,
      `style-src '${policyHash(style)}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

const CONVERSATION_COLUMNS = [
  'Conversation',
  'Model',
  'Mode',
  'Calls',
  'Messages',
  'Tokens without',
  'Tokens with',
  'Saved',
  'Cost',
  'Cache',
];
const CALL_COLUMNS = [
  'At',
  'Bytes received',
  'Bytes compacted',
  'Mode',
  'Status',
  'Input',
  'Cache read',
  'Cache written',
  'Output',
  'Cache miss',
  'Edits',
];
const EDIT_COLUMNS = ['Rule', 'What', 'Tool', 'Characters before', 'After', 'Original'];

function document(script: string, style: string): string {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>ctxfold gateway</title>
        <link rel="icon" href="data:," />
        ${rawElement('style', style)}
      </head>
      <body>
        <main>
          <header>
            <h1>ctxfold gateway</h1>
            <p id="state" role="status">connecting …</p>
          </header>
          <section id="mode">
            <h2>Mode</h2>
            <p class="modes">
              <button type="button" data-mode="observe">Observe</button>
              <button type="button" data-mode="compact">Compact</button>
              <span id="mode-note"></span>
            </p>
          </section>
          <section>
            <h2>Totals</h2>
            <dl id="totals"></dl>
          </section>
          <section>
            <h2>Conversations</h2>
            ${emptyTable('conversations', CONVERSATION_COLUMNS)}
            <p id="none">No conversations yet.</p>
          </section>
          <section id="detail" hidden>
            <h2 id="detail-name"></h2>
            <h3>Calls</h3>
            ${emptyTable('calls', CALL_COLUMNS)}
            <h3>Edits</h3>
            ${emptyTable('edits', EDIT_COLUMNS)}
            <pre id="original" hidden tabindex="0"></pre>
          </section>
          <section>
            <h2>Forwarded unread, and failures</h2>
            <dl id="passed"></dl>
            <ul id="failures"></ul>
          </section>
        </main>
        <footer>
          <p>
            Tokens with and without ctxfold are estimates; input, cache and output are what the
            provider reported. Content of a conversation is shown only when you open an original.
          </p>
        </footer>
        ${rawElement('script', script)}
      </body>
    </html> `.text;
}

/** Returns a table that the script fills. */
function emptyTable(id: string, columns: readonly string[]): Markup {
  return html`<div class="scroll">
    <table id="${id}">
      <thead>
        <tr>
          ${columns.map((column) => html`<th>${column}</th>`)}
        </tr>
      </thead>
      <tbody></tbody>
    </table>
  </div>`;
}
