// The live page of the gateway: one document that asks for nothing but what the gateway says of itself. Its policy allows the
// script and the style in it by their hashes.

import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { GatewayPage } from '../../../gateway.js';
import { readPageStyle } from '../report/client-asset.js';
import { html, rawElement } from '../report/html.js';

/** Reads what the build made of the page's script, and returns the page. */
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
      `script-src '${hashOf(script)}'`,
      `style-src '${hashOf(style)}'`,
      "connect-src 'self'",
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "frame-ancestors 'none'",
    ].join('; '),
  };
}

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
            <h2>Together</h2>
            <dl id="totals"></dl>
          </section>
          <section>
            <h2>Conversations</h2>
            <div class="scroll">
              <table id="conversations">
                <thead>
                  <tr>
                    <th>Conversation</th>
                    <th>Model</th>
                    <th>Mode</th>
                    <th>Calls</th>
                    <th>Messages</th>
                    <th>Tokens without</th>
                    <th>Tokens with</th>
                    <th>Saved</th>
                    <th>Cost</th>
                    <th>Cache</th>
                  </tr>
                </thead>
                <tbody></tbody>
              </table>
            </div>
            <p id="none">No conversation has come through yet.</p>
          </section>
          <section id="detail" hidden>
            <h2 id="detail-name"></h2>
            <h3>Calls</h3>
            <div class="scroll">
              <table id="calls">
                <thead>
                  <tr>
                    <th>At</th>
                    <th>Bytes came</th>
                    <th>Bytes compacted</th>
                    <th>Mode</th>
                    <th>Status</th>
                    <th>Input</th>
                    <th>Cache read</th>
                    <th>Cache written</th>
                    <th>Output</th>
                    <th>Cache miss</th>
                    <th>Edits</th>
                  </tr>
                </thead>
                <tbody></tbody>
              </table>
            </div>
            <h3>Edits</h3>
            <div class="scroll">
              <table id="edits">
                <thead>
                  <tr>
                    <th>Rule</th>
                    <th>What</th>
                    <th>Tool</th>
                    <th>Characters before</th>
                    <th>After</th>
                    <th>Original</th>
                  </tr>
                </thead>
                <tbody></tbody>
              </table>
            </div>
            <pre id="original" hidden tabindex="0"></pre>
          </section>
          <section>
            <h2>Passed unread, and failures</h2>
            <dl id="passed"></dl>
            <ul id="failures"></ul>
          </section>
        </main>
        <footer>
          <p>
            Tokens with and without are estimates; input, cache and output are what the provider
            reported. Nothing of a conversation is shown until you ask for an original.
          </p>
        </footer>
        ${rawElement('script', script)}
      </body>
    </html> `.text;
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`;
}
