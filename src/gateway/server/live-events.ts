// Tells a page what changes, as server-sent events. A page that does not keep up is told the newest state of what it missed.

import type { ServerResponse } from 'node:http';
import type { Ledger } from './ledger.js';

/** Changes that come close together are told once. */
const GATHER_MS = 100;
/** Keeps what stands between from taking the connection for dead. */
const BEAT_MS = 15_000;
/** More than this is not left waiting for a page that does not read. */
const MAX_WAITING_BYTES = 1024 * 1024;

/** Sends what there is, and then what changes, until the page goes. */
export function listen(
  ledger: Ledger,
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): void {
  response.writeHead(200, { ...headers, 'content-type': 'text/event-stream' });
  const changed = new Set(ledger.conversations.map(({ line }) => line.id));
  let hasStatus = true;
  let timer: NodeJS.Timeout | undefined;
  const flush = (): void => {
    timer = undefined;
    if (response.writableLength > MAX_WAITING_BYTES) {
      schedule();
      return;
    }
    if (hasStatus) write('status', ledger.status);
    hasStatus = false;
    for (const id of changed) {
      const record = ledger.conversation(id);
      if (record === undefined) write('gone', { id });
      else write('conversation', record);
    }
    changed.clear();
  };
  const write = (event: string, value: unknown): void => {
    response.write(`event: ${event}\ndata: ${JSON.stringify(value)}\n\n`);
  };
  const schedule = (): void => {
    timer ??= setTimeout(flush, GATHER_MS);
  };
  const onConversation = (id: string): void => {
    changed.add(id);
    schedule();
  };
  const onStatus = (): void => {
    hasStatus = true;
    schedule();
  };
  const beat = setInterval(() => response.write(': still here\n\n'), BEAT_MS).unref();
  ledger.on('conversation', onConversation);
  ledger.on('status', onStatus);
  response.once('close', () => {
    clearInterval(beat);
    clearTimeout(timer);
    ledger.off('conversation', onConversation);
    ledger.off('status', onStatus);
  });
  flush();
}
