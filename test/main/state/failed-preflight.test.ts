// Landed edits are saved when a step of the preflight fails, because adapters send the history nevertheless.

import { describe, expect, it } from 'vitest';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import type { Session } from '../../../src/main/session.js';
import type { SessionOptions } from '../../../src/main/session-options.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import {
  CompressionExecutionError,
  ContextWindowExceededError,
} from '../../../src/shared/errors.js';
import { openCompactor } from '../../support/open-compactor.js';

const PATH = 'src/port.ts';

/** A file that was read, behind enough text that a summary is due. */
const READ = [
  ...Array.from({ length: 10 }, (_, at) => [
    humanText(`Question ${at}. ${'It has to be free. '.repeat(40)}`),
    aiContent([{ type: 'text', text: `Answer ${at}. ${'It is free. '.repeat(40)}` }]),
  ]).flat(),
  humanText('Mend the port.'),
  aiContent([toolCall('c1', 'read_file', { file_path: PATH })]),
  toolContent([toolResponse('c1', 'read_file', 'const port = 80;\n'.repeat(100))]),
];
const WRITTEN = [
  aiContent([toolCall('c2', 'write_file', { file_path: PATH, content: 'const port = 0;' })]),
  toolContent([toolResponse('c2', 'write_file', 'written')]),
];

const noAnswer = (): Promise<never> => Promise.reject(new Error('overloaded'));

async function open(
  options: CompactorOptions,
  session: Pick<SessionOptions, 'edits' | 'history'>,
): Promise<Session> {
  return openCompactor({
    contextLimit: 6_000,
    settings: {
      'compression.strategy': 'one-shot',
      'compression.threshold': 0.4,
      'compression.ahead': 1,
    },
    summarizer: { contextLimit: 100_000, generate: noAnswer },
    ...options,
  }).createSession({ sessionId: 's', ...session });
}

const send = (session: Session): Promise<unknown> =>
  session.ensureCompressionBeforeSend('p').catch((error: unknown) => error);

const historyOf = (session: Session): readonly IContent[] => session.history.getRawHistory();

describe('a preflight whose summary fails', () => {
  it('saves the edits that landed before', async () => {
    const store = memoryStore();
    const given = { edits: 'every-turn', history: [...READ, ...WRITTEN] } as const;
    const session = await open({ store }, given);
    expect(await send(session)).toBeInstanceOf(CompressionExecutionError);
    expect(historyOf(session)).not.toEqual(given.history);
    const next = await open({ store }, given);
    expect(historyOf(next)).toEqual(historyOf(session));
    expect(next.costs()).toEqual(session.costs());
  });

  it('counts as a request', async () => {
    const session = await open({}, { edits: 'at-birth', history: READ });
    expect(await send(session)).toBeInstanceOf(CompressionExecutionError);
    expect(session.costs().requests).toBe(1);
    expect(session.reportUsage({ inputTokens: 6_000 })).not.toBe('no-preflight');
  });
});

describe('an edit without a request', () => {
  it.each([
    ['a compression', (session: Session) => session.performCompression('p')],
    ['a density pass', (session: Session) => session.ensureDensityOptimized()],
  ])('is saved: %s', async (_, edit) => {
    const store = memoryStore();
    const history = [...READ, ...WRITTEN, humanText('Go on.')];
    const settings = { 'compression.strategy': 'top-down-truncation' } as const;
    const options = { store, settings };
    const given = { edits: 'every-turn', history } as const;
    const session = await open(options, given);
    await edit(session);
    expect(historyOf(session)).not.toEqual(given.history);
    await nextTurn();
    const next = await open(options, given);
    expect(historyOf(next)).toEqual(historyOf(session));
  });
});

describe('an edit without a request, followed by a failure', () => {
  it('is saved: a history that does not fit the window after all', async () => {
    const store = memoryStore();
    const huge = humanText('It has to be free. '.repeat(4_000));
    const history = [...READ, ...WRITTEN, huge];
    const given = { edits: 'every-turn', history } as const;
    const session = await open({ store }, given);
    await expect(session.enforceContextWindow('p')).rejects.toThrow(ContextWindowExceededError);
    expect(historyOf(session)).not.toEqual(history);
    await nextTurn();
    const next = await open({ store }, given);
    expect(historyOf(next)).toEqual(historyOf(session));
  });
});
