// Calls in which ctxfold fails, and hosts that use the session of a call.

import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ChatCompletionMessageParam as ChatMessage } from 'openai/resources/chat/completions';
import { afterEach, assert, describe, expect, it, onTestFinished, vi } from 'vitest';

import { prepareStep } from '../../../src/ai-sdk.js';
import { callModelInputFilter, chatCompactor, inputCompactor } from '../../../src/openai.js';
import { createCompactor } from '../../../src/index.js';
import type { Compactor, Session } from '../../../src/index.js';
import type { MessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { warnOnce } from '../../../src/adapters/conversation/warn-of-failure.js';
import type * as WarnOfFailure from '../../../src/adapters/conversation/warn-of-failure.js';
import type * as LoggerModule from '../../../src/main/host/logger.js';
import type * as Errors from '../../../src/shared/errors.js';
import { loggerOf } from '../../../src/adapters/request/adapter-options.js';
import type { SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';
import { memoryStore } from '../../../src/state.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const open: Compactor[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((compactor) => compactor.close()));
});

function makeCompactor(): Compactor {
  const compactor = createCompactor({ offload: 'inline' });
  open.push(compactor);
  return compactor;
}

const ASK = { role: 'user', content: 'Go on.' } as const;

function listening(): {
  warnings: string[];
  logger: Record<'debug' | 'warn' | 'error', (m: string) => void>;
} {
  const warnings: string[] = [];
  const none = (): undefined => undefined;
  return {
    warnings,
    logger: { debug: none, error: none, warn: (message) => warnings.push(message) },
  };
}

describe('reported usage', () => {
  it('calibrates the model that was called, not the one that is called next', async () => {
    let session: Session | undefined;
    const compact = chatCompactor(makeCompactor(), {
      onError: 'throw',
      overheadTokens: 0,
      onSession: (made) => (session = made),
    });
    const messages = [{ role: 'user' as const, content: 'one word '.repeat(1_000) }];
    await compact(messages, { modelName: 'first' });
    const counted = session!.contextUsage().tokens;
    await compact([...messages, { role: 'assistant' as const, content: 'Yes.' }, ASK], {
      modelName: 'second',
      reportedInputTokens: 2 * counted,
    });
    expect(session!.contextUsage().tokens).toBeLessThan(1.1 * counted);
    session!.history.nameModel('first');
    expect(session!.contextUsage().tokens).toBeGreaterThan(1.9 * counted);
  });

  it("is not attributed to this process's request if another process has sent later ones", async () => {
    const store = memoryStore();
    const sessions: Session[] = [];
    const processes = [0, 1].map((at) => {
      const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate', store });
      open.push(compactor);
      return chatCompactor(compactor, {
        overheadTokens: 0,
        onSession: (session) => (sessions[at] = session),
      });
    });
    const messages: ChatMessage[] = [{ role: 'user', content: 'one word '.repeat(1_000) }];
    let reportedInputTokens: number | undefined;
    for (let call = 0; call < 6; call += 1) {
      await processes[call % 2]!(messages, { conversationId: 'one', reportedInputTokens });
      const session = sessions[call % 2]!;
      // The model counts like the estimate.
      reportedInputTokens = session.history.getTotalTokens();
      expect(session.contextUsage().tokens, `call ${call}`).toBe(reportedInputTokens);
      messages.push({ role: 'assistant', content: 'one word '.repeat(500 * 1.5 ** call) }, ASK);
    }
  });
});

describe('usage reported for requests with uncounted tools', () => {
  it.each([
    ['without an estimate', undefined],
    ['with an estimate', 20_000],
  ])('keeps them within the window of a model that counts differently: %s', async (_, estimate) => {
    const [tools, ratio, limit] = [27_000, 1.5, 80_000];
    const compactor = createCompactor({ offload: 'inline', contextLimit: limit });
    open.push(compactor);
    let session: Session | undefined;
    let compressed = 0;
    const compact = chatCompactor(compactor, {
      onError: 'throw',
      onSession: (made) => {
        session = made;
        made.on('compressed', () => (compressed += 1));
      },
    });
    const messages: ChatMessage[] = [ASK];
    const sent: number[] = [];
    for (let call = 0; call < 100; call += 1) {
      await compact(messages, { overheadTokens: estimate, reportedInputTokens: sent.at(-1) });
      sent.push(Math.round(tools + ratio * session!.history.getTotalTokens()));
      messages.push({ role: 'assistant', content: `${call} ${'one word '.repeat(400)}` }, ASK);
    }
    expect(Math.max(...sent)).toBeLessThan(limit);
    expect(compressed).toBeGreaterThan(0);
    // The window is used before anything is removed.
    const first = sent.findIndex((tokens, at) => tokens < sent[at - 1]!);
    expect(sent[first - 1]).toBeGreaterThan(0.8 * limit);
  });
});

describe('overheadTokens of a call', () => {
  it.each([
    ['is subtracted from the reported tokens', undefined, 2],
    ["is overridden by the adapter's", 0, 3],
  ])('%s', async (_, ofAdapter, expected) => {
    let session: Session | undefined;
    const compact = chatCompactor(makeCompactor(), {
      onError: 'throw',
      ...(ofAdapter !== undefined && { overheadTokens: ofAdapter }),
      onSession: (made) => (session = made),
    });
    const messages = [{ role: 'user' as const, content: 'one word '.repeat(1_000) }];
    const before = await compact(messages, { overheadTokens: 9_000 });
    expect(before).toEqual(messages);
    const counted = session!.contextUsage().tokens;
    await compact([...messages, { role: 'assistant' as const, content: 'Yes.' }, ASK], {
      overheadTokens: counted,
      reportedInputTokens: (ofAdapter ?? 9_000) + expected * counted,
    });
    expect(session!.contextUsage().tokens / counted).toBeCloseTo(expected, 0);
  });
});

describe('maxConversations', () => {
  it('limits each set of options, and all together to sixteen times as many', async () => {
    const compactor = makeCompactor();
    const sessions: Session[] = [];
    const compacts = Array.from({ length: 17 }, (_, at) =>
      chatCompactor(compactor, {
        minReclaimTokens: at,
        maxConversations: 1,
        onSession: (session) => sessions.push(session),
      }),
    );
    const compactAll = async (messages: readonly (typeof ASK)[]): Promise<void> => {
      for (const compact of compacts.slice(0, 16)) await compact(messages);
    };
    await compactAll([ASK]);
    await compactAll([ASK, ASK]);
    expect(sessions).toHaveLength(16);
    expect(compacts[3]!.report()).toHaveLength(1);
    await compacts[16]!([ASK]);
    await expect.poll(() => compactor.stats().sessions).toBe(16);
    expect(compacts[0]!.report()).toEqual([]);
  });
});

describe('an evicted conversation', () => {
  it('is logged if its session cannot be closed', async () => {
    const errors: string[] = [];
    const none = (): undefined => undefined;
    let sessions = 0;
    const compact = chatCompactor(makeCompactor(), {
      maxConversations: 1,
      onSession: (session) => {
        sessions += 1;
        if (sessions === 1) vi.spyOn(session, 'close').mockRejectedValueOnce(new Error('busy'));
      },
      logger: { debug: none, warn: none, error: (message) => errors.push(message) },
    });
    await compact([ASK]);
    await compact([{ role: 'user', content: 'Something else.' }]);
    await expect.poll(() => errors).toEqual(['the session of a conversation could not be closed']);
  });
});

describe('onError', () => {
  it('sends the given messages, and says so', async () => {
    const { warnings, logger } = listening();
    const compactor = makeCompactor();
    await compactor.close();
    const messages = [ASK];
    const sent = await chatCompactor(compactor, { logger })(messages);
    expect(sent).toEqual(messages);
    expect(sent[0]).toBe(ASK);
    expect(warnings).toEqual(['compaction failed; the messages are sent as they are']);
  });

  it("warns through the compactor's logger, unless the adapter has its own", async () => {
    const [own, shared] = [listening(), listening()];
    const compactor = createCompactor({ offload: 'inline', logger: shared.logger });
    await compactor.close();
    await chatCompactor(compactor, { logger: own.logger })([ASK]);
    expect([own.warnings.length, shared.warnings.length]).toEqual([1, 0]);
    await chatCompactor(compactor)([ASK]);
    const held = { modelData: { input: [ASK] }, agent: { modelSettings: {} } };
    const filter = callModelInputFilter(compactor);
    const store = { providerData: { previous_response_id: 'resp_1' } };
    for (const agent of [{ modelSettings: store }, { modelSettings: store }])
      await filter({ ...held, agent });
    expect(shared.warnings).toEqual([
      'compaction failed; the messages are sent as they are',
      expect.stringContaining('previous_response_id'),
    ]);
  });

  it('emits a process warning where neither the compactor nor the adapter has a logger', () => {
    const emit = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    onTestFinished(() => emit.mockRestore());
    warnOnce(loggerOf(makeCompactor()), 'only this test warns of this');
    expect(emit).toHaveBeenCalledExactlyOnceWith('only this test warns of this', {
      type: 'CtxfoldWarning',
      code: 'CTXFOLD_NOTHING_TO_COMPACT',
    });
  });

  it.each([
    ['why, where an error of ctxfold says so', 'CLOSED', /\(CLOSED\): the reason\. Give/],
    ['no text of the host', 'CALLBACK_FAILED', /\(CALLBACK_FAILED\)\. Give/],
    ['no text of another error', undefined, /\(Error\)\. Give/],
  ] as const)('emits one process warning of failures, with %s', async (_, code, said) => {
    const emit = vi.spyOn(process, 'emitWarning').mockReturnValue(undefined);
    onTestFinished(() => emit.mockRestore());
    // Once per process: modules as another process has them.
    vi.resetModules();
    const { warnOfFailure } = await vi.importActual<typeof WarnOfFailure>(
      '../../../src/adapters/conversation/warn-of-failure.js',
    );
    const { SILENT_LOGGER } = await vi.importActual<typeof LoggerModule>(
      '../../../src/main/host/logger.js',
    );
    const { CtxfoldError } = await vi.importActual<typeof Errors>('../../../src/shared/errors.js');
    const error = code ? new CtxfoldError('the reason.', code) : new Error('of the user');
    for (let call = 0; call < 2; call += 1) warnOfFailure(SILENT_LOGGER, error, 'failed');
    expect(emit).toHaveBeenCalledExactlyOnceWith(expect.stringMatching(said), expect.anything());
  });

  it('warns once of a removal log that cannot be written, and again once it could be', async () => {
    const { warnings, logger } = listening();
    const removalLogDirectory = join(temporaryFolder(), 'logs');
    const compact = chatCompactor(makeCompactor(), { logger, removalLogDirectory });
    const failed = 'compaction failed; the messages are sent as they are';
    await writeFile(removalLogDirectory, '');
    for (let call = 0; call < 2; call += 1) expect(await compact([ASK])).toEqual([ASK]);
    expect(warnings).toEqual([failed]);
    await rm(removalLogDirectory);
    await compact([ASK]);
    await rm(removalLogDirectory, { recursive: true });
    await writeFile(removalLogDirectory, '');
    await compact([{ role: 'user', content: 'another conversation' }]);
    expect(warnings).toEqual([failed, failed]);
  });

  it('sends what was compacted before, also if the summarizer fails now', async () => {
    const { warnings, logger } = listening();
    let isDown = false;
    const generate = async (): Promise<SummarizerResponse> => {
      if (isDown) throw new Error('overloaded');
      return { text: snapshot('what was'), finishReason: 'stop' };
    };
    const compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 12_000 },
      summarizer: { contextLimit: 100_000, generate },
      settings: { 'compression.strategy': 'one-shot', 'compression.ahead': 1 },
    });
    open.push(compactor);
    const fallbacks: string[] = [];
    const compact = chatCompactor(compactor, {
      logger,
      onSession: (session) => session.on('fallback', ({ error }) => fallbacks.push(error.name)),
    });
    const messages: ChatMessage[] = [ASK];
    const sent: string[] = [];
    for (let call = 0; fallbacks.length < 2; call += 1) {
      sent.push(JSON.stringify(await compact(messages)));
      isDown ||= sent.at(-1)!.includes('what was');
      messages.push({ role: 'assistant', content: `${call} ${'one word '.repeat(200)}` }, ASK);
    }
    expect(warnings).toEqual(['compaction failed; what was compacted before is sent']);
    expect(new Set(fallbacks)).toEqual(new Set(['CompressionExecutionError']));
    // Each request begins with the whole previous one, which the cache holds.
    const since = sent.slice(sent.findIndex((text) => text.includes('what was')));
    since.slice(1).forEach((text, at) => {
      expect(text.startsWith(since[at]!.slice(0, -1))).toBe(true);
    });
    // Once the model is back, the same call compacts again.
    isDown = false;
    expect(JSON.stringify(await compact(messages)).length).toBeLessThan(since.at(-1)!.length);
  });

  it('reports the cause in the event fallback of the session', async () => {
    const { logger } = listening();
    const fallbacks: unknown[] = [];
    let session: Session | undefined;
    const compact = chatCompactor(makeCompactor(), {
      logger,
      onSession: (made) => {
        session = made;
        made.on('fallback', ({ task, error }) => fallbacks.push([task, error.name]));
      },
    });
    await compact([ASK]);
    await session?.close();
    const messages = [ASK, { role: 'assistant', content: 'Yes.' } as const, ASK];
    expect(await compact(messages)).toEqual(messages);
    expect(fallbacks).toEqual([['send', 'CtxfoldError']]);
  });

  it('treats a model id that is no string as a failure, and sends the messages', async () => {
    const { warnings, logger } = listening();
    const compact = chatCompactor(makeCompactor(), { logger });
    expect(await compact([ASK], { modelName: 5 } as never)).toEqual([ASK]);
    expect(warnings).toHaveLength(1);
  });

  it('sends the messages if the CompactCall throws when it is read', async () => {
    const hostile = new Proxy({}, { get: () => assert.fail('read'), ownKeys: () => assert.fail() });
    const compact = chatCompactor(makeCompactor());
    for (const call of [hostile, { signal: hostile }])
      expect(await compact([ASK], call as never)).toEqual([ASK]);
    const readIt = (): unknown => inputCompactor(makeCompactor(), hostile);
    expect(readIt).toThrow(
      /^Expected an object of adapter options, got what throws when it is read/,
    );
  });

  it('continues a conversation whether or not its adapters have a logger', async () => {
    const compactor = makeCompactor();
    const { logger } = listening();
    const first = chatCompactor(compactor, { logger });
    await first([ASK]);
    const second = chatCompactor(compactor);
    await second([ASK, { role: 'assistant', content: 'Done.' }, ASK]);
    expect(first.report()).toHaveLength(1);
    expect(second.report()).toEqual(first.report());
  });

  it.each([
    [null, 'null'],
    [undefined, 'undefined'],
    [Promise.resolve([ASK]), 'an instance of Promise'],
    [{ messages: [ASK] }, 'an object'],
    ['secret', 'a string'],
  ])('says what it got in place of messages, without quoting it: %s', async (given, got) => {
    const compact = chatCompactor(makeCompactor());
    await expect(compact(given as never)).rejects.toThrow(
      `Expected an array of messages, got ${got}.`,
    );
  });

  it.each([
    [[], 'an array'],
    [Promise.resolve({}), 'an instance of Promise'],
    [null, 'null'],
  ])('says what it got in place of options: %s', (given, got) => {
    expect(() => chatCompactor(makeCompactor(), given as never)).toThrow(
      `Expected an object of adapter options, got ${got}.`,
    );
  });

  it('rejects with the reason of a signal, and refuses a value that is no list', async () => {
    const compact = chatCompactor(makeCompactor());
    const signal = AbortSignal.abort(new Error('enough'));
    await expect(compact([ASK], { signal })).rejects.toThrow('enough');
    await expect(compact('Go on.' as never)).rejects.toThrow(TypeError);
  });

  it('refuses a signal that cannot be listened to', async () => {
    const compact = chatCompactor(makeCompactor(), { onError: 'throw' });
    const signal = { aborted: false } as AbortSignal;
    await expect(compact([ASK], { signal })).rejects.toThrow(
      'Expected signal to be an AbortSignal, got an object.',
    );
  });

  it('begins another session after messages that one could not take', async () => {
    const sessions: Session[] = [];
    const compact = chatCompactor(makeCompactor(), {
      logger: listening().logger,
      onSession: (session) => void sessions.push(session),
    });
    await compact([ASK]);
    const adding = vi.spyOn(sessions[0]!.history, 'addAll');
    adding.mockImplementationOnce(() => assert.fail());
    const messages = [ASK, { role: 'assistant', content: 'Yes.' } as const, ASK];
    expect(await compact(messages)).toEqual(messages);
    expect(await compact(messages)).toEqual(messages);
    expect(sessions.map(({ history }) => history.getRawHistory().length)).toEqual([1, 3]);
  });

  it('prepares messages again if that was aborted', async () => {
    const sessions: Session[] = [];
    const compact = chatCompactor(makeCompactor(), {
      logger: listening().logger,
      onSession: (session) => void sessions.push(session),
    });
    await compact([ASK]);
    const preparing = vi.spyOn(sessions[0]!, 'ensureCompressionBeforeSend');
    const controller = new AbortController();
    preparing.mockImplementationOnce(() => {
      controller.abort(new Error('enough'));
      return Promise.reject(controller.signal.reason as Error);
    });
    const messages = [ASK, { role: 'assistant', content: 'Yes.' } as const, ASK];
    await expect(compact(messages, { signal: controller.signal })).rejects.toThrow('enough');
    for (let call = 0; call < 2; call += 1) await compact(messages);
    expect(preparing).toHaveBeenCalledTimes(2);
  });

  it('throws with `throw`', async () => {
    const compactor = makeCompactor();
    await compactor.close();
    await expect(chatCompactor(compactor, { onError: 'throw' })([ASK])).rejects.toThrow('closed');
  });

  it.each([
    ['minReclaimTokenz', " (did you mean 'minReclaimTokens'?)"],
    ['removalLogDir', " (did you mean 'removalLogDirectory'?)"],
    ['conversationId', " (did you mean 'conversationId' of each call of a message compactor?)"],
  ])('refuses the unknown option %s, and suggests a similar one', (option, hint) => {
    const compactor = makeCompactor();
    expect(() => chatCompactor(compactor, { [option]: 1 })).toThrow(
      `there is no option "${option}"${hint}.`,
    );
  });
});

it.each([
  { edits: 'sometimes' },
  { minReclaimTokens: -1 },
  { cacheTtlMs: -1 },
  { reasoning: 'drop' },
  { overheadTokens: '9' },
  { removalLogDirectory: '' },
  { canRecall: 1 },
  { activeTodos: [] },
  { density: { workingSet: {} } },
])(
  'an adapter refuses %j when it is made, not in each call, where the error would be hidden',
  (options) => {
    const compactor = makeCompactor();
    for (const make of [chatCompactor, prepareStep, callModelInputFilter])
      expect(() => make(compactor, options as never)).toThrow(/^(?:Expected|Invalid) /);
  },
);

it('an adapter also suggests its own options', () => {
  const compactor = makeCompactor();
  expect(() => prepareStep(compactor, { conversationid: 'a' } as never)).toThrow(
    `there is no option "conversationid" (did you mean 'conversationId'?).`,
  );
  expect(() => callModelInputFilter(compactor, { compactByProvder: {} } as never)).toThrow(
    `there is no option "compactByProvder" (did you mean 'compactByProvider'?).`,
  );
});

it('an adapter keeps sending the note of dropped turns while more turns are dropped', async () => {
  const summarizer = { contextLimit: 8_000, generate: () => Promise.reject(new Error('down')) };
  const compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 8_000, summarizer },
    settings: { 'compression.strategy': 'one-shot', 'compression.fallback': 'one-shot' },
  });
  open.push(compactor);
  const compact = chatCompactor(compactor, { onError: 'throw' });
  const messages: ChatMessage[] = [];
  for (let at = 0; at < 60; at += 1) {
    messages.push({ role: 'user', content: `Never skip part ${at}.` });
    if (at >= 40) {
      const sent = JSON.stringify(await compact(messages));
      expect(sent).toContain('Record of what was asked');
      for (const part of [0, 20, at]) expect(sent).toContain(`Never skip part ${part}.`);
    }
    messages.push({ role: 'assistant', content: 'lorem ipsum dolor '.repeat(100) });
  }
});

describe('onSession', () => {
  it('passes a session that the host may compress, and later calls send the result', async () => {
    let session: Session | undefined;
    const onSession = (made: Session): void => {
      session = made;
    };
    const compactor = createCompactor({
      offload: 'inline',
      summarizer: scriptedSummarizer(snapshot('what was')),
      settings: { 'compression.strategy': 'one-shot' },
    });
    open.push(compactor);
    const compact = chatCompactor(compactor, { onError: 'throw', onSession });
    const answer = { role: 'assistant', content: 'lorem ipsum dolor '.repeat(60) } as const;
    const messages = Array.from({ length: 8 }, () => [ASK, answer]).flat();
    expect(await compact([...messages, ASK])).toEqual([...messages, ASK]);
    expect(await session?.performCompression('p')).toMatchObject({ outcome: 'applied' });
    const sent = await compact([...messages, ASK, answer, ASK]);
    expect(sent.length).toBeLessThan(messages.length);
    expect(JSON.stringify(sent)).toContain('what was');
    expect(sent.slice(-3)).toEqual([ASK, answer, ASK]);
  });

  it('passes a session whose summaries use the todos of the newest run', async () => {
    const summarizer = scriptedSummarizer(snapshot('what was'));
    const compactor = createCompactor({
      ...{ offload: 'inline', summarizer, settings: { 'compression.strategy': 'one-shot' } },
    });
    open.push(compactor);
    const sessions: Session[] = [];
    const run = (todo: string): MessageCompactor<ChatMessage> =>
      chatCompactor(compactor, {
        onSession: (made) => sessions.push(made),
        activeTodos: () => [{ id: '1', content: todo, status: 'pending' }],
      });
    const answer = { role: 'assistant', content: 'lorem ipsum dolor '.repeat(60) } as const;
    const messages = Array.from({ length: 8 }, () => [ASK, answer]).flat();
    await run('sow the field')([...messages, ASK]);
    await run('reap the field')([...messages, ASK, answer, ASK]);
    await sessions[0]?.performCompression('p');
    expect(sessions).toHaveLength(1);
    expect(JSON.stringify(summarizer.requests)).toContain('reap the field');
    expect(JSON.stringify(summarizer.requests)).not.toContain('sow the field');
  });
});
