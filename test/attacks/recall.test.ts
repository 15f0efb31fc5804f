// One user's results recalled by another. The attack was a single tool call: the model of one conversation asked for
// `call_1`, an id that every conversation has, and got another user's tool result.

import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { messageCompactor } from '../../src/adapters/ai-sdk/message-compactor.js';
import { recallTool } from '../../src/adapters/ai-sdk/recall-tool.js';
import type { Compactor } from '../../src/main/compactor.js';
import { listRemoved } from '../../src/main/removal-log/list-removed.js';
import { removalLogPathIn } from '../../src/main/removal-log/removal-log-path.js';
import { restore } from '../../src/main/removal-log/restore.js';
import type { Session } from '../../src/main/session.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';
import { temporaryPath } from '../main/removal-log/recording.js';
import { openCompactor } from '../support/open-compactor.js';

function openPruning(): Compactor {
  return openCompactor({
    settings: {
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 1,
      'compression.density.placeholder': 'informative',
    },
  });
}

/** The messages of a user whose first result is pruned. */
function messagesOf(secret: string) {
  return ['call_1', 'call_2'].flatMap((toolCallId) => [
    {
      role: 'assistant',
      content: [{ type: 'tool-call', toolCallId, toolName: 'look', input: { path: 'a' } }],
    },
    {
      role: 'tool',
      content: [
        {
          type: 'tool-result',
          toolCallId,
          toolName: 'look',
          output: { type: 'text', value: secret },
        },
      ],
    },
  ]);
}

interface Conversation {
  readonly conversationId: string;
  readonly removalLogDirectory: string;
}

async function converse(
  compactor: Compactor,
  { conversationId, removalLogDirectory }: Conversation,
  secret: string,
): Promise<void> {
  const compact = messageCompactor(compactor, { edits: 'every-turn', removalLogDirectory });
  await compact(messagesOf(secret) as never, { conversationId });
}

/** A separate session whose first result is pruned, with any id and file. */
async function prune(
  compactor: Compactor,
  options: { readonly sessionId: string; readonly removalLogPath: string },
  secret: string,
): Promise<Session> {
  const history = ['call_1', 'call_2'].flatMap((id) => [
    aiContent([toolCall(id, 'look', { path: 'a' })]),
    toolContent([toolResponse(id, 'look', secret)]),
  ]);
  const session = await compactor.createSession({ edits: 'every-turn', ...options, history });
  await session.ensureCompressionBeforeSend('p');
  return session;
}

describe('a recall tool', () => {
  it('does not give one user what another one has under the same call id', async () => {
    const compactor = openPruning();
    const removalLogDirectory = temporaryPath('transcripts');
    const ann = { conversationId: 'ann', removalLogDirectory };
    const bob = { conversationId: 'bob', removalLogDirectory };
    await converse(compactor, ann, 'secret of ann');
    await converse(compactor, bob, 'secret of bob');
    const call = { id: 'call_1' };
    expect(await recallTool(compactor, ann).execute(call)).toBe('secret of ann');
    expect(await recallTool(compactor, bob).execute(call)).toBe('secret of bob');
    const eve = { conversationId: 'eve', removalLogDirectory };
    expect(await recallTool(compactor, eve).execute(call)).toMatch(/^No original/);
  });

  it('tells two conversations apart that have one id and logs in different directories', async () => {
    const compactor = openPruning();
    const conversations = [1, 2].map(async () => ({
      conversationId: 'chat-1',
      removalLogDirectory: temporaryPath('transcripts'),
    }));
    const [ann, bob] = (await Promise.all(conversations)) as [Conversation, Conversation];
    await converse(compactor, ann, 'secret of ann');
    await converse(compactor, bob, 'secret of bob');
    const call = { id: 'call_1' };
    expect(await recallTool(compactor, ann).execute(call)).toBe('secret of ann');
    expect(await recallTool(compactor, bob).execute(call)).toBe('secret of bob');

    // The id alone is ambiguous, so neither is returned.
    const { conversationId } = ann;
    // @ts-expect-error The directory is missing.
    expect(() => recallTool(compactor, { conversationId })).toThrow(TypeError);
    await expect(compactor.restore('call_1', { sessionId: conversationId })).rejects.toMatchObject({
      code: 'SESSION_AMBIGUOUS',
    });
  });
});

describe('a session', () => {
  it('that takes the id of an open one opens none of its originals', async () => {
    const compactor = openPruning();
    const sessionId = 'chat-1';
    await prune(compactor, { sessionId, removalLogPath: temporaryPath() }, 'secret of ann');
    const withoutLog = await compactor.createSession({ sessionId });
    await expect(withoutLog.restore('call_1')).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
    const removalLogPath = temporaryPath();
    const ofBob = await compactor.createSession({ sessionId, removalLogPath });
    await expect(ofBob.restore('call_1')).rejects.toMatchObject({ code: 'NOT_IN_REMOVAL_LOG' });
    await expect(compactor.restore('call_1', { sessionId })).rejects.toMatchObject({
      code: 'SESSION_AMBIGUOUS',
    });
    const removalLogDirectory = path.dirname(removalLogPath);
    await expect(
      compactor.restore('call_1', { sessionId, removalLogDirectory }),
    ).rejects.toMatchObject({ code: 'NOT_IN_REMOVAL_LOG' });
  });

  it('that writes to the file of an earlier one gives back nothing of it', async () => {
    const removalLogPath = temporaryPath();
    const first = openPruning();
    await prune(first, { sessionId: 'ann', removalLogPath }, 'secret of ann');
    await first.close();
    const compactor = openPruning();
    const session = await prune(compactor, { sessionId: 'bob', removalLogPath }, 'secret of bob');
    for (const sessionId of ['ann', 'bob']) {
      expect((await restore(removalLogPath, 'call_1', { sessionId })).response.result).toBe(
        `secret of ${sessionId}`,
      );
      const listed = await listRemoved(removalLogPath, { sessionId });
      expect(listed.map((one) => one.sessionId)).toEqual([sessionId]);
    }
    expect((await session.restore('call_1')).response.result).toBe('secret of bob');
    expect((await recallTool(session).execute({ id: 'call_1' })) as string).toBe('secret of bob');
    await expect(compactor.restore('call_1', { sessionId: 'ann' })).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
    });
  });
});

describe('looking for originals', () => {
  // An id missing by mistake, as in `{ sessionId: request.user?.session }`, used to search everywhere.
  it.each([
    undefined,
    null,
    {},
    'ann',
    { sessionId: undefined },
    { sessionId: null },
    { sessionId: '' },
    { sessionId: ['ann'] },
    { acrossSessions: undefined },
    { acrossSessions: false },
    { acrossSessions: 1 },
    { acrossSessions: 'yes' },
    { acrossSessions: true, sessionId: 'ann' },
  ])('needs a session, or the word for all of them: %j', async (options) => {
    const compactor = openPruning();
    const removalLogDirectory = temporaryPath('transcripts');
    const log = removalLogPathIn(removalLogDirectory, 'ann');
    await converse(compactor, { conversationId: 'ann', removalLogDirectory }, 'secret of ann');
    const given = options as { sessionId: string };
    await expect(compactor.restore('call_1', given)).rejects.toThrow(TypeError);
    await expect(restore(log, 'call_1', given)).rejects.toThrow(TypeError);
    await expect(listRemoved(log, given)).rejects.toThrow(TypeError);
  });

  it('is refused without that when it is compiled', () => {
    const compile = (compactor: Compactor): unknown[] => [
      // @ts-expect-error Nobody is named.
      compactor.restore('call_1'),
      // @ts-expect-error Nobody is named.
      compactor.restore('call_1', {}),
      // @ts-expect-error Looking everywhere is said by `true` alone.
      compactor.restore('call_1', { acrossSessions: Boolean('no') }),
      // @ts-expect-error Nobody is named.
      restore('x', 'call_1'),
      // @ts-expect-error Nobody is named.
      listRemoved('x'),
    ];
    expect(compile).toBeTypeOf('function');
  });
});
