// Serves MCP on stdin and stdout. Only the protocol may write to stdout.

import { existsSync, readFileSync } from 'node:fs';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { createRecallServer } from './recall-server.js';
import type { RecallSource } from './recall-choice.js';
import { printError, printMessage } from '../terminal/print.js';

/** Serves until stdin ends. Only the open stdin keeps the process alive, so that it exits then. */
export function runMcp(source: RecallSource): void {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as { readonly version: string };
  for (const path of source.paths) {
    // Not an error: a session creates its removal log with its first edit, so the file may appear later.
    if (!existsSync(path)) printMessage(`${path} does not exist yet`);
  }
  serveStdio(() => createRecallServer(source, version), {
    onerror: (error) => {
      printError(error, false);
    },
  });
}
