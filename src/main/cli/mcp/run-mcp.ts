// Runs the server of `mcp` on this process's standard streams. Nothing but the protocol may be written to
// standard output.

import { existsSync, readFileSync } from 'node:fs';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { describeError } from '../terminal/print-error.js';
import { createRecallServer } from './recall-server.js';
import type { RecallSource } from './recall-choice.js';
import { tell, tellLines } from '../terminal/print.js';
import { printable } from '../terminal/terminal-text.js';

/** Serves until standard input ends; the process ends then, as nothing else keeps it alive. */
export function runMcp(source: RecallSource): void {
  const { version } = JSON.parse(
    readFileSync(new URL('../../../../package.json', import.meta.url), 'utf8'),
  ) as { readonly version: string };
  for (const path of source.paths) {
    // A session makes the file with the first edit: it may well come later.
    if (!existsSync(path)) tell(`${printable(path)} does not exist yet`);
  }
  serveStdio(() => createRecallServer(source, version), {
    onerror: (error) => {
      tellLines(describeError(error, false));
    },
  });
}
