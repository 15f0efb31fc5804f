// The hooks of the plugin, called by a fake OpenCode.

import { describe, expect, it, onTestFinished } from 'vitest';

import { plugin } from '../../../src/adapters/opencode/plugin.js';
import type { OpenCodeHooks } from '../../../src/adapters/opencode/plugin-api.js';
import type { OpenCodeMessage } from '../../../src/adapters/opencode/stored-message.js';
import { assistant, message, said, staleRead, tool, user } from './opencode-messages.js';

const PRUNING = { preset: 'specification', offload: 'inline', workspaceRoot: '/w' };

interface Database {
  readonly messages?: readonly OpenCodeMessage[];
  readonly limit?: object;
}

async function start(options: object = PRUNING, { messages, limit }: Database = {}) {
  const client = {
    session: { messages: async () => ({ data: messages }) },
    config: {
      providers: async () => ({ data: { providers: [{ id: 'p', models: { m: { limit } } }] } }),
    },
  };
  const hooks = await plugin.server({ directory: '/w', client }, { ...options });
  onTestFinished(() => hooks.dispose());
  return hooks;
}

async function sent(
  hooks: OpenCodeHooks,
  messages: readonly OpenCodeMessage[],
): Promise<readonly OpenCodeMessage[]> {
  const output = { messages: [...messages] };
  await hooks['experimental.chat.messages.transform']({}, output);
  return output.messages;
}

async function status(hooks: OpenCodeHooks, command = 'ctxfold'): Promise<string> {
  const output = { parts: [{ type: 'text', text: 'template' }] };
  await hooks['command.execute.before']({ command, sessionID: 's' }, output);
  return JSON.stringify(output.parts);
}

const LONG = [
  user('Look.'),
  ...[1, 2, 3].map((at) =>
    assistant(said('So.'), tool(`c${at}`, 'look', {}, `what ${at} says. `.repeat(300))),
  ),
];

/** An answer with a refusal of the provider. */
function refused(responseBody: string): OpenCodeMessage {
  const error = { name: 'APIError', data: { message: 'Bad Request', responseBody } };
  const { info } = assistant();
  return { info: { ...info, ...{ error } }, parts: [] };
}

/** An answer without usage, like those that OpenCode keeps from before a summary. */
function unreported(message: OpenCodeMessage): OpenCodeMessage {
  return { ...message, info: { ...message.info, ...{ tokens: undefined } } };
}

/** A conversation with reasoning in its later answers, by an OpenAI model first, then by Claude. */
function thoughtful(modelID: string): readonly OpenCodeMessage[] {
  const [, ...talk] = staleRead();
  const model = { providerID: 'p', modelID };
  const thinkers = [{ openai: { itemId: 'rs_1' } }, { anthropic: { signature: 's1' } }];
  const answers = thinkers.map((metadata) =>
    assistant({ type: 'reasoning', text: 'Hm.', metadata }, said('So.')),
  );
  return [user('Read a.ts.', { model }), ...talk, ...answers, user('Go on.', { model })];
}

describe('plugin', () => {
  it('removes thinking that Claude binds to a prefix that has changed', async () => {
    const hooks = await start();
    const bound = await sent(hooks, thoughtful('claude-opus-5-5'));
    expect(JSON.stringify(bound)).not.toContain('a line of the file');
    expect(JSON.stringify(bound)).not.toContain('"s1"');
    expect(JSON.stringify(bound)).toContain('"rs_1"');
    const other = await sent(await start(), thoughtful('claude-sonnet-4-5'));
    expect(JSON.stringify(other)).toContain('"s1"');
  });

  it('removes refused thinking from the next call on', async () => {
    const hooks = await start({ offload: 'inline' });
    const talk = [
      user('Look.', { model: { providerID: 'p', modelID: 'claude-opus-5-5' } }),
      assistant(
        { type: 'reasoning', text: 'Hm.', metadata: { anthropic: { signature: 's1' } } },
        said('So.'),
      ),
      user('Go on.'),
    ];
    const text = '{"error":{"message":"The block is bound to a different conversation."}}';
    expect(JSON.stringify(await sent(hooks, talk))).toContain('"s1"');
    const other = [...talk, refused('{"error":{"message":"Overloaded"}}'), user('Well.')];
    expect(JSON.stringify(await sent(hooks, other))).toContain('"s1"');
    const next = [...other, refused(text), user('Go on.')];
    expect(JSON.stringify(await sent(hooks, next))).not.toContain('"s1"');
    const later = [...next, assistant(said('I see.')), user('Good.')];
    expect(JSON.stringify(await sent(hooks, later))).not.toContain('"s1"');
  });

  it('removes stale messages from the list in place, and mutates no message', async () => {
    const hooks = await start();
    const talk = staleRead();
    const before = structuredClone(talk);
    const left = await sent(hooks, talk);
    expect(left.map(({ parts }) => parts.length)).toEqual([1, 3, 4]);
    expect(left[2]).toBe(talk[2]);
    expect(talk).toEqual(before);
    expect(await status(hooks)).toContain('1 calls sent');
  });

  it('leaves the messages that OpenCode is about to summarize unedited once, and then continues', async () => {
    const hooks = await start();
    const talk = staleRead();
    await sent(hooks, talk);
    await hooks['experimental.session.compacting']({ sessionID: 's' });
    expect(await sent(hooks, talk)).toEqual(talk);
    expect(await sent(hooks, [...talk, user('On.')])).toHaveLength(4);
    expect(await status(hooks)).toContain('2 calls sent');
  });

  it('leaves one list unedited for each summary of OpenCode, even an empty list', async () => {
    const hooks = await start();
    await hooks['experimental.session.compacting']({ sessionID: 's' });
    expect(await sent(hooks, [])).toEqual([]);
    const model = { id: 'm', providerID: 'p', limit: { context: 100_000, output: 8_000 } };
    await hooks['chat.params']({ agent: 'compaction', sessionID: 's', model });
    expect((await sent(hooks, staleRead()))[1]!.parts).toHaveLength(3);
  });

  it('learns nothing from the usage of a summary', async () => {
    const limit = { context: 20_000, output: 8_000 };
    const hooks = await start({ offload: 'inline', overheadTokens: 0 }, { limit });
    await sent(hooks, [user('one word '.repeat(1_000))]);
    const tokens = { input: 7_000, output: 5, cache: { read: 0, write: 0 } };
    const summary = message('assistant', [said('So far.')], { summary: true, tokens });
    const on = [...LONG.map(unreported), user('What did we do?'), summary, user('On.')];
    expect(await sent(hooks, on)).toEqual(on);
  });

  it('distinguishes models of the same name by their provider', async () => {
    const limit = { context: 200_000, output: 8_000 };
    const hooks = await start({ offload: 'inline', overheadTokens: 0 }, { limit });
    const other = { id: 'm', providerID: 'other', limit: { context: 12_000, output: 8_000 } };
    await hooks['chat.params']({ agent: 'build', sessionID: 'another', model: other });
    expect(await sent(hooks, LONG)).toEqual(LONG);
  });

  it('never throws: messages are sent unchanged, and the status says why', async () => {
    const hooks = await start();
    const broken = [{ info: { sessionID: 's', role: 7 }, parts: [] } as unknown as OpenCodeMessage];
    expect(await sent(hooks, broken)).toEqual(broken);
    expect(await status(hooks)).toContain('was not compacted');
    expect(await sent(hooks, [null as unknown as OpenCodeMessage])).toEqual([null]);
    expect(await sent(hooks, [])).toEqual([]);
    const wrong = await start({ contextLimit: 'much' });
    expect(await sent(wrong, staleRead())).toHaveLength(3);
    expect(await status(wrong)).toContain('contextLimit');
  });

  it("asks OpenCode for the window of its model, and reserves the answer's share", async () => {
    const limit = { context: 12_000, output: 8_000 };
    const hooks = await start({ offload: 'inline', overheadTokens: 0 }, { limit });
    expect(await sent(hooks, LONG)).not.toEqual(LONG);
    const wide = await start({ offload: 'inline' }, { limit: { context: 200_000, output: 8_000 } });
    expect(await sent(wide, LONG)).toEqual(LONG);
  });

  it('counts the tools of a call', async () => {
    const hooks = await start({ offload: 'inline' }, { limit: { context: 24_000, output: 8_000 } });
    expect(await sent(hooks, LONG)).toEqual(LONG);
    const tool = { description: 'Looks. '.repeat(5_000), parameters: {} };
    await hooks['tool.definition']({ toolID: 'look' }, tool);
    const on = [...LONG, user('On.')];
    expect(await sent(hooks, on)).not.toEqual(on);
  });

  it('uses the window of a call from then on', async () => {
    const limit = { context: 200_000, output: 8_000 };
    const hooks = await start({ offload: 'inline', overheadTokens: 0 }, { limit });
    expect(await sent(hooks, LONG)).toEqual(LONG);
    const on = [...LONG, user('On.')];
    expect(await sent(hooks, on)).toEqual(on);
    const model = {
      ...{ id: 'm', providerID: 'p' },
      limit: { context: 300_000, input: 4_000, output: 300 },
    };
    await hooks['chat.params']({ agent: 'build', sessionID: 's', model });
    const further = [...on, assistant(said('So.')), user('On.')];
    expect(await sent(hooks, further)).not.toEqual(further);
  });

  it("recalls a result from OpenCode's database", async () => {
    const cleared = tool('c1', 'read', {}, 'original', { time: { compacted: 1 } });
    const failed = {
      type: 'tool',
      callID: 'c3',
      state: { status: 'error', error: 'no such file' },
    };
    const hooks = await start(PRUNING, {
      messages: [assistant(cleared, failed), assistant(tool('c1', 'read', {}, 'another'))],
    });
    const recall = (input: object): Promise<string> =>
      hooks.tool.recall.execute(input, { sessionID: 's' });
    expect(await recall({ id: 'c1' })).toBe('original');
    expect(await recall({ id: 'c3' })).toBe('no such file');
    expect(await recall({ id: 'c2' })).toContain('No original is on record');
    expect(await recall({})).toContain('give the id');
  });

  it('adds a command, unless the user has one of that name', async () => {
    const hooks = await start();
    const config: { command?: Record<string, object> } = {};
    await hooks.config(config);
    expect(config.command?.['ctxfold']).toMatchObject({ template: expect.any(String) });
    const own = { command: { ctxfold: { template: 'mine' } } };
    await hooks.config(own);
    expect(own.command.ctxfold).toEqual({ template: 'mine' });
    expect(await status(hooks)).toContain('template');
    await hooks.config(config);
    expect(await status(hooks)).toContain('No call of this session');
    expect(await status(hooks, 'review')).toContain('template');
  });
});
