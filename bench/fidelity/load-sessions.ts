// Finds recorded sessions in files and folders: transcripts of known formats, and traces.

import { readFile } from 'node:fs/promises';
import { CtxfoldError } from '../../src/index.js';
import { readTranscript } from '../../src/transcripts.js';
import { findSessionFiles } from '../../src/cli/replay/session-files.js';
import { recordContexts } from './recorded-session.js';
import type { RecordedSession } from './recorded-session.js';
import { readTrace } from './trace.js';

/** The folder of the sessions in this repository. */
export const OWN_SESSIONS = 'test/fixtures/transcripts';

/** The contexts of all sessions, and the files that hold no session. */
export interface LoadedSessions {
  readonly contexts: readonly RecordedSession[];
  readonly skipped: readonly string[];
}

/** Reads all sessions below these paths. @throws RangeError when there are none. */
export async function loadSessions(paths: readonly string[]): Promise<LoadedSessions> {
  const contexts: RecordedSession[] = [];
  const skipped: string[] = [];
  for (const path of paths) {
    for (const file of (await findSessionFiles(path)).files) {
      const found = await contextsIn(file);
      if (found === undefined) skipped.push(file);
      else contexts.push(...found);
    }
  }
  if (contexts.length === 0) throw new RangeError('None of the files holds a session.');
  return { contexts, skipped };
}

async function contextsIn(file: string): Promise<readonly RecordedSession[] | undefined> {
  const trace = file.endsWith('.json') ? readTrace(file, await readFile(file, 'utf8')) : undefined;
  if (trace !== undefined) return trace.map((context) => ({ ...context, hasTexts: false }));
  try {
    return recordContexts(file, await readTranscript(file));
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    return undefined;
  }
}
