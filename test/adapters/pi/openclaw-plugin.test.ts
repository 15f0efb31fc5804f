// The engine, the tool and the command of the plugin, called by a fake OpenClaw.

import { describe, expect, it, onTestFinished, vi } from 'vitest';

import type { PiMessage } from '../../../src/adapters/pi/agent-message.js';
import type { OpenClawPluginApi } from '../../../src/adapters/pi/openclaw-api.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { register } from '../../../src/adapters/pi/openclaw-plugin.js';
import { call, message, result, said, staleRead, user } from './pi-messages.js';

const PRUNING = { preset: 'specification', offload: 'inline' };

type Registered<Name extends keyof OpenClawPluginApi> = OpenClawPluginApi[Name] extends
  ((first: infer First, ...rest: never[]) => unknown) | undefined
  ? First
  : never;

/** An OpenClaw with one session. */
function playedOpenClaw(pluginConfig: Readonly<Record<string, unknown>> = PRUNING) {
  let factory: Parameters<OpenClawPluginApi['registerContextEngine']>[1] | undefined;
  let tool: Registered<'registerTool'> | undefined;
  let command: Registered<'registerCommand'> | undefined;
  let service: Registered<'registerService'> | undefined;
  register({
    pluginConfig,
    registerContextEngine: (_id, given) => (factory = given),
    registerTool: (given) => (tool = given),
    registerCommand: (given) => (command = given),
    registerService: (given) => (service = given),
  });
  onTestFinished(() => service?.stop());
  const engine = factory!({ workspaceDir: '/w' });
  const sessionId = 's';
  return {
    engine,
    assemble: async (messages: readonly PiMessage[]) =>
      (await engine.assemble({ sessionId, messages, tokenBudget: 100_000, model: 'm' })) as {
        messages: readonly PiMessage[];
        estimatedTokens: number;
      },
    recall: async (id: unknown, of = sessionId) =>
      (await tool!({ sessionId: of }).execute('r', { id })).content[0]?.text,
    status: () => command!.handler({ sessionId }).text,
    stop: () => service!.stop(),
  };
}

describe('register', () => {
  it('assembles messages without stale ones, with their tokens', async () => {
    const { assemble, status } = playedOpenClaw();
    const talk = staleRead();
    const before = structuredClone(talk);
    const whole = await assemble(talk.slice(0, 3));
    expect(whole.messages).toEqual(talk.slice(0, 3));
    const left = await assemble(talk);
    expect(left.messages).toHaveLength(4);
    expect(left.messages[2]).toBe(talk[3]);
    expect(left.estimatedTokens).toBeGreaterThan(0);
    expect(left.estimatedTokens).toBeLessThan(whole.estimatedTokens);
    expect(talk).toEqual(before);
    expect(status()).toContain('2 calls sent');
  });

  it('also returns the tokens of one call after a restart', async () => {
    const pluginConfig = { ...PRUNING, store: memoryStore() };
    const [former, next] = [playedOpenClaw(pluginConfig), playedOpenClaw(pluginConfig)];
    const talk = staleRead();
    const whole = await former.assemble(talk.slice(0, 3));
    await former.assemble(talk);
    await former.stop();
    const again = await next.assemble([...talk, user('Go on.')]);
    expect(next.status()).toContain('3 calls sent');
    expect(again.estimatedTokens).toBeLessThan(whole.estimatedTokens);
  });

  it.each(['the same', 'another'])(
    'sends the first turn as OpenClaw sent it, which shows it when it is over, from %s process',
    async (process) => {
      const pluginConfig = { offload: 'inline', store: memoryStore() };
      const former = playedOpenClaw(pluginConfig);
      const output = Array.from({ length: 300 }, (_, at) => `${at} was built`).join('\n');
      const turn = ['c1', 'c2', 'c3'].flatMap((id) => [
        message('assistant', {
          content: [call(id, 'exec', { command: 'make' })],
          timestamp: Date.now(),
        }),
        result(id, output),
      ]);
      const talk = [
        user('Build.'),
        ...turn,
        message('assistant', { content: [said('Built.')], timestamp: Date.now() }),
      ];
      // Edits that another process may have made are repeated.
      const unseen = await playedOpenClaw({ offload: 'inline' }).assemble(talk);
      expect(unseen.messages).not.toEqual(talk);

      await former.assemble([]);
      if (process === 'another') await former.stop();
      const next = process === 'another' ? playedOpenClaw(pluginConfig) : former;
      expect((await next.assemble(talk)).messages).toEqual(talk);
    },
  );

  it("ignores reported usage that includes OpenClaw's own prompt and the running turn", async () => {
    const { assemble } = playedOpenClaw({ offload: 'inline' });
    const turn = (usage: object = {}): readonly PiMessage[] => [
      user('one word '.repeat(1_000)),
      message('assistant', { content: [said('another word '.repeat(1_000))], ...usage }),
    ];
    const talk = [1, 2, 3, 4, 5].flatMap(() => turn());
    await assemble(talk);
    const usage = { input: 70_000, output: 5, cacheRead: 0, cacheWrite: 0 };
    talk.push(...[6, 7, 8, 9, 10].flatMap(() => turn()));
    expect((await assemble([...talk, ...turn({ usage })])).messages).toHaveLength(22);
  });

  it('recalls a removed result of the session that asks', async () => {
    const { assemble, recall } = playedOpenClaw();
    await assemble(staleRead());
    expect(await recall('c1')).toContain('a line of the file');
    await assemble([...staleRead(), ...staleRead(), result('c1', 'Another.')]);
    expect(await recall('c1')).toContain('a line of the file');
    expect(await recall('c1', 'another')).toContain('No original is on record');
    expect(await recall(7)).toContain('Nothing was recalled');
  });

  it('never throws: messages are sent unchanged, and the command says why', async () => {
    const { assemble, status } = playedOpenClaw();
    const broken = [{ role: 7 }] as unknown as readonly PiMessage[];
    expect((await assemble(broken)).messages).toEqual(broken);
    expect(status()).toContain('was not compacted');
    const wrong = playedOpenClaw({ contextLimit: 'much' });
    expect((await wrong.assemble(staleRead())).messages).toHaveLength(5);
    expect(wrong.status()).toContain('contextLimit');
  });

  it('lets OpenClaw summarize when OpenClaw has asked for that', async () => {
    const asked: unknown[] = [];
    const summarized = { ok: true, compacted: true };
    vi.doMock('openclaw/plugin-sdk/core', () => ({
      delegateCompactionToRuntime: (params: unknown) => (asked.push(params), summarized),
    }));
    onTestFinished(() => vi.doUnmock('openclaw/plugin-sdk/core'));
    const { engine } = playedOpenClaw();
    const params = { sessionId: 's', force: true };
    expect(await engine.compact(params)).toBe(summarized);
    expect(asked).toEqual([params]);
  });

  it('continues after a stop, and reports a turn that is ingested twice as a duplicate', async () => {
    const { assemble, engine, stop } = playedOpenClaw();
    await assemble(staleRead());
    await stop();
    expect((await assemble([...staleRead(), user('On.')])).messages).toHaveLength(5);
    const turn = { advancementKey: 'k' };
    expect(await engine.commitTurn(turn)).toEqual({ status: 'committed' });
    expect(await engine.commitTurn(turn)).toEqual({ status: 'duplicate' });
    expect(await engine.commitTurn({ advancementKey: 'l' })).toEqual({ status: 'committed' });
  });
});
