// Plays recorded sessions against providers that bind reasoning to its prefix, by the rules of Claude 5.x and of GPT-6.2, through
// the real SDKs: `npm run bound-reasoning -- <file or folder>...`. Fails when a request is refused or reasoning dropped.

import { CtxfoldError } from '../src/index.js';
import type { IContent } from '../src/index.js';
import { findSessionFiles } from '../src/cli/replay/session-files.js';
import { playClaude, playGpt } from '../test/support/bound-talks.js';
import { entriesWithTurns } from '../test/support/recorded-talks.js';

const paths = process.argv.slice(2);
if (paths.length === 0) throw new RangeError('Expected files or folders with sessions.');

const sums = new Map<string, { sessions: number; requests: number; broken: number }>();

for (const path of paths) {
  for (const file of (await findSessionFiles(path)).files) {
    const entries = await read(file);
    if (entries === undefined) continue;
    for (const edits of ['auto', 'append-only'] as const) {
      note(`Claude 5.x, ${edits}`, await playClaude(entries, edits));
      note(`GPT-6.2, ${edits}`, await playGpt(entries, 'gpt-6.2-sol', edits));
    }
  }
}
for (const [name, { sessions, requests, broken }] of sums) {
  process.stdout.write(
    `${name}: ${sessions} sessions, ${requests} requests, ${broken} refused or dropped\n`,
  );
}
if ([...sums.values()].some(({ broken }) => broken > 0)) process.exitCode = 1;

async function read(file: string): Promise<readonly IContent[] | undefined> {
  try {
    return await entriesWithTurns(file);
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    return undefined;
  }
}

function note(name: string, { requests, broken }: { requests: number; broken: number }): void {
  const sum = sums.get(name) ?? { sessions: 0, requests: 0, broken: 0 };
  sums.set(name, {
    sessions: sum.sessions + 1,
    requests: sum.requests + requests,
    broken: sum.broken + broken,
  });
}
