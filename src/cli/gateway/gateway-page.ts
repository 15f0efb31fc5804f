// The live page of the gateway: one self-contained document that sends requests only to the gateway itself.

import type { GatewayPage } from '../../gateway.js';
import { headCells, html, tableMarkup } from '../report/html.js';
import type { Markup } from '../report/html.js';
import { contentPolicy, pageDocument, readPageAssets } from '../report/page-document.js';

/** Reads the built script and returns the page. */
export async function gatewayPage(): Promise<GatewayPage> {
  const assets = await readPageAssets(new URL('./client.json', import.meta.url));
  return {
    html: pageDocument({ title: 'ctxfold gateway', body: body(), footer: FOOTER }, assets),
    contentSecurityPolicy: contentPolicy(assets, "connect-src 'self'", "frame-ancestors 'none'"),
  };
}

const FOOTER =
  'Tokens with and without ctxfold, what is saved and its cost are estimates of the messages alone; a request also has system text ' +
  'and tools, which stay. Input, cache and output are what the provider reported for all of it. ' +
  'Content of a conversation is shown only when you open an original.';

/** Ordered by importance: a narrow screen shows only the first columns. */
const CONVERSATION_COLUMNS = [
  'Conversation',
  'Saved',
  'Cost',
  'Mode',
  'Model',
  'Calls',
  'Messages',
  'Tokens without',
  'Tokens with',
  'Cache read',
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
const EDIT_COLUMNS = ['Edit', 'Tool', 'Characters before', 'After', 'Original'];

function body(): Markup {
  return html`<header>
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
      <p>Select one to see its calls and edits.</p>
      ${emptyTable('conversations', 'Conversations', CONVERSATION_COLUMNS)}
      <p id="none">No conversations yet.</p>
    </section>
    <section id="detail" hidden>
      <h2 id="detail-name"></h2>
      <h3>Calls</h3>
      ${emptyTable('calls', 'Calls', CALL_COLUMNS)}
      <h3>Edits</h3>
      ${emptyTable('edits', 'Edits', EDIT_COLUMNS)}
      <pre id="original" hidden tabindex="0"></pre>
    </section>
    <section>
      <h2>Forwarded unread, and failures</h2>
      <dl id="passed"></dl>
      <ul id="failures"></ul>
    </section>`;
}

/** Returns a table without rows, which the page's script fills. */
function emptyTable(id: string, caption: string, columns: readonly string[]): Markup {
  return tableMarkup({ attribute: `id="${id}"`, caption, head: headCells(columns), rows: [] });
}
