// ctxfold's policies compared with sessions of the public API: the benchmark measures what a host gets.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { OWN_POLICY, POLICIES } from '../../../bench/fidelity/policies.js';
import { recordSession } from '../../../bench/fidelity/recorded-session.js';
import type { RecordedSession } from '../../../bench/fidelity/recorded-session.js';
import { createCompactor } from '../../../src/index.js';
import { readTranscript } from '../../../src/transcripts.js';
import type { IContent, SessionOptions } from '../../../src/index.js';

const FIXTURES = path.resolve(import.meta.dirname, '../../fixtures/transcripts');

/** A fixture session with the same time for every entry, like in the session below. */
async function fixture(name: string): Promise<RecordedSession> {
  const transcript = await readTranscript(path.join(FIXTURES, name));
  const entries = transcript.entries.map(({ speaker, blocks }): IContent => ({ speaker, blocks }));
  return recordSession(name, { ...transcript, entries });
}

async function contextsOfSession(
  { transcript }: RecordedSession,
  edits: NonNullable<SessionOptions['edits']>,
): Promise<readonly (readonly IContent[])[]> {
  const { entries, preset, workspaceRoot = '/' } = transcript;
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    contextLimit: 100_000_000,
  });
  const session = await compactor.createSession({
    edits,
    density: {
      ...preset,
      workspaceRoot,
      // The policy for every turn only has the working set.
      ...(edits === 'every-turn' && { shrink: 'off' }),
    },
  });
  const contexts: (readonly IContent[])[] = [];
  let added = 0;
  for (const [at, { speaker }] of entries.entries()) {
    if (speaker !== 'ai') continue;
    session.history.addAll(entries.slice(added, at));
    added = at;
    await session.ensureCompressionBeforeSend(`call ${at}`);
    contexts.push(session.history.getAll());
  }
  await compactor.close();
  return contexts;
}

function contextsOfPolicy(
  session: RecordedSession,
  name: string,
): readonly (readonly IContent[])[] {
  const send = POLICIES.find((policy) => policy.name === name)!.start(session);
  const { entries } = session.transcript;
  const contexts: (readonly IContent[])[] = [];
  let added = 0;
  for (const [at, { speaker }] of entries.entries()) {
    if (speaker !== 'ai') continue;
    contexts.push([...send(entries.slice(added, at))]);
    added = at;
  }
  return contexts;
}

describe('POLICIES', () => {
  it.each([
    [OWN_POLICY, 'every-turn', 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl'],
    [OWN_POLICY, 'every-turn', 'codex/jdx-mise__71-b56c467073-0.jsonl'],
    ['default, batched', 'batched', 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl'],
    ['default, batched', 'batched', 'codex/jdx-mise__71-b56c467073-0.jsonl'],
  ] as const)(
    '"%s" sends what a session with the edits %s sends, on %s',
    async (name, edits, file) => {
      const session = await fixture(file);
      const sent = await contextsOfSession(session, edits);
      expect(sent.some((context) => context.length > 0)).toBe(true);
      expect(contextsOfPolicy(session, name)).toEqual(sent);
    },
  );
});
