// The event handlers of the extension, called by a fake pi.

import { describe, expect, it } from 'vitest';

import { RECALL_DESCRIPTION } from '../../../src/adapters/request/recall-words.js';
import { piExtension } from '../../../src/adapters/pi/extension.js';
import type { PiContext, PiExtensionApi, PiTool } from '../../../src/adapters/pi/extension-api.js';
import { fieldsOf } from '../../../src/adapters/pi/agent-message.js';
import type { PiMessage, PiPart } from '../../../src/adapters/pi/agent-message.js';
import type { CompactorOptions } from '../../../src/main/compactor-options.js';
import { assistant, call, message, result, staleRead, user } from './pi-messages.js';

const PRUNING: CompactorOptions = {
  preset: 'specification',
  offload: 'inline',
  workspaceRoot: '/w',
};

type Handler = (event: unknown, ctx: PiContext) => unknown;

/** A fake pi with one session, whose file holds the given entries. */
function playedPi(options: CompactorOptions = PRUNING, tools: readonly { name: string }[] = []) {
  const handlers = new Map<string, Handler>();
  const notes: string[] = [];
  const statuses: (string | undefined)[] = [];
  const entries: { type: string; message: PiMessage }[] = [];
  let tool: PiTool | undefined;
  let command: { handler: (args: string, ctx: PiContext) => Promise<void> } | undefined;
  const ctx: PiContext = {
    cwd: '/w',
    model: { id: 'm', api: 'openai-completions', contextWindow: 200_000 },
    sessionManager: { getSessionId: () => 's', getEntries: () => entries },
    ui: {
      notify: (text) => notes.push(text),
      setStatus: (_key, text) => statuses.push(text),
    },
  };
  const pi = {
    on: (event: string, handler: Handler) => handlers.set(event, handler),
    getAllTools: () => tools,
    getActiveTools: () => [],
    registerTool: (given: PiTool) => (tool = given),
    registerCommand: (_name: string, given: typeof command) => (command = given),
  };
  piExtension(options)(pi as unknown as PiExtensionApi);
  const emit = async (event: string, fields: object = {}, context = ctx): Promise<unknown> =>
    handlers.get(event)?.({ type: event, ...fields }, context);
  return {
    ctx,
    notes,
    statuses,
    entries,
    emit,
    sent: async (messages: readonly PiMessage[]) =>
      ((await emit('context', { messages })) as { messages: PiMessage[] } | undefined)?.messages,
    recall: async (id: unknown) => {
      await emit('session_start');
      return (await tool!.execute('r', { id }, undefined, undefined, ctx)).content[0]?.text;
    },
    tool: () => tool,
    command: () => command!.handler('', ctx),
  };
}

const PRUNING_OLD = { ...PRUNING, settings: { 'compression.density.recencyPruning': true } };

/** Reads with the same id, of which the first ones are old. */
const sixReads = (): PiMessage[] =>
  ['first', 'second', 'third', 'fourth', 'fifth', 'sixth'].flatMap((text) => [
    assistant(call('c1', 'read_file', { absolute_path: `/w/${text}` })),
    result('c1', `${text} text `.repeat(20), { toolName: 'read_file' }),
  ]);

describe('piExtension', () => {
  it.each([
    [
      'removes thinking behind an edit for a model that binds it',
      { forceAdaptiveThinking: true },
      false,
    ],
    [
      'keeps it where pi has what no longer matches dropped',
      { forceAdaptiveThinking: true, supportsMidConvoEffort: true },
      true,
    ],
    ['keeps it for other models', undefined, true],
  ])('%s', async (_, compat, isKept) => {
    const { ctx, emit } = playedPi();
    const model = { id: 'a-proxy', api: 'anthropic-messages', contextWindow: 200_000, compat };
    const [asked, read, found, write, written] = staleRead();
    const thinking = { type: 'thinking', thinking: 'Hm.', thinkingSignature: 's1' };
    const thought = assistant(thinking, ...(fieldsOf(write!).content as readonly PiPart[]));
    const messages = [asked, read, found, thought, written];
    const { messages: sent } = (await emit('context', { messages }, { ...ctx, model })) as {
      messages: PiMessage[];
    };
    expect(sent).toHaveLength(4);
    expect(JSON.stringify(sent).includes('"s1"')).toBe(isKept);
  });

  it('sends nothing stale, and returns no change to pi if there is none', async () => {
    const { sent, emit, statuses } = playedPi();
    const talk = staleRead();
    expect(await sent(talk.slice(0, 3))).toBeUndefined();
    expect(await sent(talk)).toEqual([
      talk[0],
      { ...talk[1], content: [{ type: 'text', text: 'I read.' }] },
      ...talk.slice(3),
    ]);
    expect(statuses.at(-1)).toMatch(/^ctxfold −\d+ %$/);
    await emit('session_shutdown');
  });

  it("saves the edits of a call in pi's session once, after its turn", async () => {
    const { sent, emit } = playedPi();
    const talk = staleRead();
    await sent(talk);
    const contextEntries = talk.map((each, at) => ({
      sourceEntry: { id: `e${at}`, type: 'message' },
      messages: [each],
    }));
    const turn = {
      message: assistant(),
      entries: [{ type: 'custom' }],
      context: { contextEntries },
    };
    expect(await emit('turn_end', turn)).toMatchObject({
      entries: [{ type: 'custom' }, { targetId: 'e1' }, { targetId: 'e2', replacement: null }],
    });
    expect(await emit('turn_end', turn)).toBeUndefined();
    await emit('session_shutdown');
  });

  it('saves no edits in versions of pi that do not support them', async () => {
    const { sent, emit } = playedPi();
    await sent(staleRead());
    expect(await emit('turn_end', { message: assistant() })).toBeUndefined();
    await emit('session_shutdown');
  });

  it('continues one session with the messages that pi has edited', async () => {
    const { sent, emit, command, notes } = playedPi();
    const talk = staleRead();
    const edited = (await sent(talk))!;
    const more = structuredClone([...edited, user('Go on.')]);
    expect(await sent(more)).toBeUndefined();
    await command();
    expect(notes[0]).toContain('2 calls sent');
    await emit('session_shutdown');
  });

  it("prevents pi's compaction at its threshold, but not one for the user or after a refusal", async () => {
    const { sent, emit } = playedPi();
    const compaction = (reason: string): Promise<unknown> =>
      emit('session_before_compact', { reason });
    // A resumed session may be above pi's threshold before its first call.
    expect(await compaction('threshold')).toEqual({ cancel: true });
    await sent(staleRead());
    expect(await compaction('threshold')).toEqual({ cancel: true });
    expect(await compaction('manual')).toBeUndefined();
    expect(await compaction('overflow')).toBeUndefined();
    await emit('session_shutdown');
  });

  it('sends invalid messages unchanged, says so, and leaves compaction to pi', async () => {
    const { sent, emit, command, notes } = playedPi();
    const broken = [user('a'), { role: 7 } as unknown as PiMessage];
    expect(await sent(broken)).toBeUndefined();
    expect(await emit('session_before_compact', { reason: 'threshold' })).toBeUndefined();
    await command();
    expect(notes[0]).toContain('The last call was not compacted: Expected a message');
    await emit('session_shutdown');
  });

  it("uses the window of pi's model, or the one in a provider's refusal", async () => {
    const { sent, emit, ctx } = playedPi({ offload: 'inline', workspaceRoot: '/w' });
    const small = { ...ctx, model: { ...ctx.model!, contextWindow: 3_000 } };
    const talk = [
      user('Look.'),
      ...[1, 2, 3].flatMap((at) => [
        assistant(call(`c${at}`, 'bash', { command: `look ${at}` })),
        result(`c${at}`, `what ${at} says is long. `.repeat(200)),
      ]),
    ];
    expect(await sent(talk)).toBeUndefined();
    const fitted = (await emit('context', { messages: [...talk, user('Go on.')] }, small)) as {
      messages: unknown[];
    };
    expect(JSON.stringify(fitted.messages).length).toBeLessThan(3_000 * 4);
    await emit('session_shutdown');

    const other = playedPi({ offload: 'inline', workspaceRoot: '/w' });
    await other.sent(talk.slice(0, 1));
    const errorMessage = 'prompt is too long: 208310 tokens > 3000 maximum';
    await other.emit('turn_end', {
      message: message('assistant', { content: [], stopReason: 'error', errorMessage }),
    });
    expect(JSON.stringify(await other.sent(talk)).length).toBeLessThan(3_000 * 4);
    await other.emit('session_shutdown');
  });

  it('counts the prompt and the tools of each call', async () => {
    const { emit, ctx, sent } = playedPi({ offload: 'inline', workspaceRoot: '/w' });
    const talk = [
      user('Look.'),
      ...[1, 2, 3].flatMap((at) => [
        assistant(call(`c${at}`, 'bash', { command: `look ${at}` })),
        result(`c${at}`, `what ${at} says is long. `.repeat(200)),
      ]),
    ];
    Object.assign(ctx.model!, { contextWindow: 9_000 });
    expect(await sent(talk)).toBeUndefined();
    const full = { ...ctx, getSystemPrompt: () => 'Be careful. '.repeat(2_000) };
    expect(await emit('context', { messages: [...talk, user('Go on.')] }, full)).toBeDefined();
    await emit('session_shutdown');
  });

  it("recalls a result from pi's file, by the id in its placeholder", async () => {
    const { recall, entries, sent } = playedPi(PRUNING_OLD);
    const talk = sixReads();
    entries.push(...talk.map((message) => ({ type: 'message', message })));
    const shown = JSON.stringify((await sent([user('Go.'), ...talk]))?.[2]);
    expect(shown).toContain(String.raw`recall(\"c1\")`);
    expect(await recall('c1')).toContain('first text');
    expect(await recall('c9')).toContain('No original is on record for "c9"');
    expect(await recall(undefined)).toContain('give the id');
  });

  it('adds its tool when a session starts, unless another extension has one of that name', async () => {
    const alone = playedPi();
    expect(alone.tool()).toBeUndefined();
    await alone.emit('session_start');
    expect(alone.tool()?.name).toBe('recall');
    const second = playedPi(PRUNING, [{ name: 'recall' }]);
    await second.emit('session_start');
    expect(second.tool()).toBeUndefined();
  });

  it('names no tool in placeholders if the tool of that name belongs to another extension', async () => {
    const { emit, sent } = playedPi(PRUNING_OLD, [{ name: 'recall' }]);
    await emit('session_start');
    const shown = JSON.stringify((await sent([user('Go.'), ...sixReads()]))?.[2]);
    expect(shown).toContain('[read_file');
    expect(shown).not.toContain('recall(');
  });

  it('names its tool in placeholders if pi has it from an earlier session', async () => {
    const own = { name: 'recall', description: RECALL_DESCRIPTION };
    const { emit, sent } = playedPi(PRUNING_OLD, [own]);
    await emit('session_start');
    const shown = JSON.stringify((await sent([user('Go.'), ...sixReads()]))?.[2]);
    expect(shown).toContain('recall(');
  });

  it('throws for invalid options once, which pi displays; then the command says so', async () => {
    const { sent, command, notes } = playedPi({ contextLimit: -1 });
    await expect(sent(staleRead())).rejects.toThrow('contextLimit');
    expect(await sent(staleRead())).toBeUndefined();
    await command();
    expect(notes[0]).toContain('contextLimit');
  });

  it('reports before any call that there was none, and starts again after a shutdown', async () => {
    const { command, notes, emit, sent } = playedPi();
    await command();
    expect(notes[0]).toContain('No call of this session');
    await emit('session_shutdown');
    const talk = staleRead();
    expect(await sent(talk)).toHaveLength(talk.length - 1);
    await emit('session_shutdown');
  });
});
