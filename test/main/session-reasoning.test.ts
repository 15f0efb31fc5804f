// What happens to reasoning when the requests of one session go to models with different policies.

import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Session } from '../../src/main/session.js';
import type { ReasoningPolicy } from '../../src/main/preflight/reasoning-policy.js';
import type { IContent } from '../../src/shared/content.js';
import { createCompactor } from '../../src/main/compactor.js';
import { HistoryService } from '../../src/main/history-service.js';
import { memoryStore } from '../../src/main/state/memory-store.js';
import type { SessionState } from '../../src/main/state/session-state.js';
import { providerEntry } from '../../src/main/strategies/provider-compaction.js';
import { historyOf } from '../support/notation.js';
import { entriesOf, openNoted } from '../support/session-bench.js';

const STRIP = 'strip-after-first-edit';
const PLAIN = { offload: 'inline', tokenizer: 'estimate' } as const;

async function send(session: Session, added: string, reasoning?: ReasoningPolicy): Promise<string> {
  session.history.addAll(historyOf(added));
  await session.ensureCompressionBeforeSend('p', 0, 'send', { reasoning });
  return entriesOf(session);
}

/** A session in which a write has removed a read in front of thinking, which stayed. */
async function keptBehindEdit(reasoning?: ReasoningPolicy): Promise<Session> {
  const session = openNoted('h', { contextLimit: 10_000, timing: { reasoning } });
  await send(session, 'a:*s1,r1 t:r1', 'keep');
  await send(session, 'a:*s3,s3 t:s3', 'keep');
  expect(await send(session, 'a:*s2,w2 t:w2', 'keep')).toContain('a:*s3,s3');
  return session;
}

describe('Session, with a policy on reasoning for each request', () => {
  it('removes once what another policy has left behind edits, and reports it', async () => {
    const session = await keptBehindEdit();
    const onPruned = vi.fn();
    session.on('pruned', onPruned);
    expect(await send(session, 'a:*s4,s4 t:s4', STRIP)).toBe('h a:s3 t:s3 a:w2 t:w2 a:s4 t:s4');
    expect(onPruned).toHaveBeenCalledOnce();
    expect(onPruned).toHaveBeenCalledWith(
      expect.objectContaining({ reason: 'reasoning', edits: [] }),
    );
    // Later reasoning is bound to the present history.
    expect(await send(session, 'a:*s5,s5 t:s5', STRIP)).toContain('a:*s5,s5');
    await send(session, 'h', 'keep');
    expect(await send(session, 'h', STRIP)).toContain('a:*s5,s5');
  });

  it('removes nothing in front of the first edit, or without one', async () => {
    const session = openNoted('h a:*s9,s9 t:s9', { contextLimit: 10_000, timing: {} });
    await send(session, 'a:r1 t:r1', 'keep');
    expect(await send(session, 'h', STRIP)).toBe('h a:*s9,s9 t:s9 a:r1 t:r1 h');
    await send(session, 'a:*s3,s3 t:s3 a:w2 t:w2', 'keep');
    expect(await send(session, 'h', STRIP)).toBe('h a:*s9,s9 t:s9 h a:s3 t:s3 a:w2 t:w2 h');
  });

  it('removes the reasoning that a state lists as left', async () => {
    const former = await keptBehindEdit();
    const added = historyOf('h a:*s1,r1 t:r1 a:*s3,s3 t:s3 a:*s2,w2 t:w2');
    await using compactor = createCompactor(PLAIN);
    const session = await compactor.createSession({ history: added, state: former.snapshot() });
    await session.ensureCompressionBeforeSend('p', 0, 'send', { reasoning: STRIP });
    expect(entriesOf(session)).not.toContain('*');
  });

  it('removes reasoning that the provider has refused, also where that has compacted the history', async () => {
    const compaction = providerEntry({ kind: 'compaction', data: {}, tokens: 9 });
    const session = openNoted('h a:r1 t:r1', { contextLimit: 10_000, timing: {} });
    session.history.add(compaction);
    session.history.addAll(historyOf('a:*s3,s3 t:s3 h'));
    await session.ensureCompressionBeforeSend('p', 0, 'send', { removesReasoning: true });
    expect(entriesOf(session)).not.toContain('r1');
    expect(entriesOf(session)).toContain('a:s3 t:s3');
  });

  it('remembers the refusal in another process with the state', async () => {
    await using compactor = createCompactor({ store: memoryStore(), ...PLAIN });
    const given = {
      sessionId: 'one',
      edits: 'every-turn',
      history: historyOf('h a:r1 t:r1'),
    } as const;
    const session = await compactor.createSession(given);
    await session.ensureCompressionBeforeSend('p', 0, 'send', { removesReasoning: true });
    const other = await compactor.createSession(given);
    for (const each of [other, session]) await send(each, 'a:s5 t:s5 h');
    const goesOn = vi.spyOn(HistoryService.prototype, 'goOn');
    onTestFinished(() => void vi.restoreAllMocks());
    for (const each of [other, session]) await send(each, 'a:*s3,s3 t:s3 h');
    expect(goesOn).toHaveBeenCalled();
    expect(await send(session, 'a:w2 t:w2')).toBe('h a:s5 t:s5 h a:s3 t:s3 h a:w2 t:w2');
  });

  it.each([undefined, 'a-profile'])(
    'remembers what the model %s has refused in another process, even if the history differs',
    async (modelName) => {
      await using compactor = createCompactor(PLAIN);
      const [added, differing] = ['h a:r1 t:r1 h', 'h a:r1 t:r1 a:s5 t:s5'].map(historyOf);
      const open = async (history?: IContent[], state?: SessionState): Promise<Session> => {
        const session = await compactor.createSession({ edits: 'every-turn', history, state });
        if (modelName !== undefined) session.history.nameModel(modelName);
        return session;
      };
      const refused = await open(added);
      await refused.ensureCompressionBeforeSend('p', 0, 'send', { removesReasoning: true });
      for (const history of [added, differing]) {
        const [other, unaware] = [await open(history, refused.snapshot()), await open(history)];
        for (const each of [other, unaware])
          await send(each, 'a:*s3,s3 t:s3 a:r2 t:r2 a:w2 t:w2 h');
        expect(entriesOf(other)).not.toContain('*');
        expect(entriesOf(unaware)).toContain('*');
      }
    },
  );

  it('follows the option of the session, if it is set', async () => {
    const session = await keptBehindEdit('keep');
    expect(await send(session, 'h', STRIP)).toContain('a:*s3,s3');
  });

  it.each(['rs_1', '{"type":"reasoning","id":"rs_1"}'])(
    'keeps what OpenAI requires for its calls: %s',
    async (signature) => {
      const session = openNoted('h', { contextLimit: 10_000, timing: {} });
      await send(session, 'a:r1 t:r1', 'keep');
      const [call, result] = historyOf('a:s3 t:s3') as [IContent, IContent];
      const thinking = { type: 'thinking', thought: 'Hm.', signature } as const;
      session.history.addAll([{ ...call, blocks: [thinking, ...call.blocks] }, result]);
      await send(session, 'a:w2 t:w2', 'keep');
      await send(session, 'a:*s4,s4 t:s4', STRIP);
      const blocks = session.history.getRawHistory().flatMap((entry) => entry.blocks);
      expect(blocks.filter(({ type }) => type === 'thinking')).toEqual([thinking]);
    },
  );

  it('refuses an unknown policy', async () => {
    const session = openNoted('h', {});
    expect(() =>
      session.ensureCompressionBeforeSend('p', 0, 'send', { reasoning: 'drop' as never }),
    ).toThrow(RangeError);
  });
});

describe('Session.goOnWith, for a model that binds reasoning', () => {
  const BINDING = 'claude-opus-5-5';
  const OTHER = 'claude-opus-4-8';
  const SENT = 'h:"go" a:*s1,s1 t:s1 h:"on" a:*s2,s2 t:s2 a:*s3,s3 t:s3';

  /** A session that has sent `SENT` to a model, and continues with other entries. */
  async function goOn(modelName: string, entries: string): Promise<string> {
    const session = openNoted(SENT, { contextLimit: 10_000, timing: {} });
    session.history.nameModel(modelName);
    await session.ensureCompressionBeforeSend('p', 0, 'send', { reasoning: STRIP });
    await session.goOnWith(historyOf(entries));
    await session.ensureCompressionBeforeSend('p', 0, 'send', { reasoning: STRIP });
    return entriesOf(session);
  }

  it('removes the reasoning behind an entry that the host has changed', async () => {
    const changed = SENT.replace('"on"', '"on, then"');
    const sent = await goOn(BINDING, changed);
    expect(sent).toBe('h:go a:*s1,s1 t:s1 h:"on, then" a:s2 t:s2 a:s3 t:s3');
    expect(await goOn(OTHER, changed)).toContain('a:*s3,s3');
  });

  it('keeps the reasoning of another branch', async () => {
    const branch = 'h:"go" a:*s1,s1 t:s1 h:"no" a:*s4,s4 t:s4 a:*s5,s5 t:s5';
    expect(await goOn(BINDING, branch)).toContain('a:*s4,s4 t:s4 a:*s5,s5 t:s5');
  });
});
