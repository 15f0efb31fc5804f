// The turn loop over a real session that runs inline, with scripted models and tools.

import { getEventListeners } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import type { ChatChunk, ChatModel, ToolHandlers } from '../../../src/main/turn-loop/chat-model.js';
import { TurnLoop } from '../../../src/main/turn-loop/turn-loop.js';
import type { TurnLoopOptions } from '../../../src/main/turn-loop/turn-loop.js';
import type { Session } from '../../../src/main/session.js';
import { humanText, toolCall } from '../../../src/shared/content.js';
import { findViolations } from '../../../src/shared/validity.js';
import { describeHistory } from '../../support/notation.js';

const call = (
  id: string,
  name = 'read_file',
  parameters: unknown = { file_path: 'a.ts' },
): ChatChunk => ({
  type: 'tool_call',
  call: toolCall(id, name, parameters),
});
const say = (text: string): ChatChunk => ({ type: 'text', text });

function scripted(
  ...responses: readonly (readonly ChatChunk[])[]
): ChatModel & { requests: string[] } {
  const script = [...responses];
  const requests: string[] = [];
  return {
    name: 'scripted',
    requests,
    async *stream({ contents }) {
      requests.push(describeHistory(contents));
      await Promise.resolve();
      yield* script.shift() ?? [];
    },
  };
}

async function loopOf(
  model: ChatModel,
  tools: ToolHandlers = { read_file: () => 'content' },
  options: Partial<TurnLoopOptions> = {},
): Promise<TurnLoop> {
  const compactor = createCompactor({
    offload: 'inline',
    tokenizer: 'estimate',
    workspaceRoot: '/work',
    overheadTokens: 0,
  });
  return new TurnLoop({ session: await compactor.createSession(), model, tools, ...options });
}

function speakers({ history }: Session): string {
  return history
    .getAll()
    .map(({ speaker }) => speaker)
    .join(' ');
}

describe('TurnLoop', () => {
  it('adds the message, opens the window, calls the model, adds the response, runs the tools, and repeats', async () => {
    const loop = await loopOf(scripted([say('I '), say('look'), call('r1')], [say('done')]));
    const events: string[] = [];
    for await (const event of loop.sendMessageStream('hello')) {
      events.push(`${event.type}:${speakers(loop.session)}`);
    }
    expect(events).toEqual([
      'user-message:human',
      'preflight:human',
      'chunk:human',
      'chunk:human',
      'chunk:human',
      // Tools start with the response; they do not wait until it has been read.
      'response:human ai tool',
      'tool-responses:human ai tool',
      'preflight:human ai tool',
      'chunk:human ai tool',
      'response:human ai tool ai',
      'end:human ai tool ai',
    ]);
    expect(describeHistory(loop.session.history.getAll().slice(0, 2))).toContain('"I look"');
  });

  it('resolves with the last response', async () => {
    const loop = await loopOf(scripted([call('r1')], [say('done')]));
    const { signal } = new AbortController();
    const result = await loop.sendMessage(humanText('hello'), { signal });
    expect(result).toMatchObject({ reason: 'answered', modelCalls: 2 });
    expect(result.response?.blocks).toEqual([{ type: 'text', text: 'done' }]);
    expect(Object.keys(result.response?.metadata ?? {})).toEqual(['timestamp', 'model']);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
  });

  it('runs parallel calls together and answers them in their order', async () => {
    let running = 0;
    let most = 0;
    const slow = async (parameters: unknown): Promise<unknown> => {
      running += 1;
      most = Math.max(most, running);
      await new Promise((resolve) => setImmediate(resolve));
      running -= 1;
      return parameters;
    };
    const model = scripted(
      [call('1', 'slow', 'x'), call('2', 'slow', 'y'), call('3', 'toString')],
      [say('ok')],
    );
    const loop = await loopOf(model, { slow });
    await loop.sendMessage('go');
    expect(most).toBe(2);
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([
      { callId: '1', result: 'x' },
      { callId: '2', result: 'y' },
      { callId: '3', error: 'There is no tool "toString". Use one of: slow.' },
    ]);
  });

  it('answers calls of tools that throw, or whose result is not JSON', async () => {
    const circular: Record<string, unknown> = {};
    circular['self'] = circular;
    const loop = await loopOf(
      scripted(
        [
          call('1', 'bad'),
          call('2', 'odd'),
          call('3', 'nothing'),
          call('4', 'body'),
          call('5', 'mute'),
        ],
        [say('ok')],
      ),
      {
        body: () => {
          throw Object.assign(new Error(), { message: { detail: 'of a response' } });
        },
        bad: () => {
          throw new Error('no such file');
        },
        mute: () => {
          throw new Error();
        },
        odd: () => circular,
        nothing: () => undefined,
      },
    );
    await loop.sendMessage('go');
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([
      { error: 'no such file' },
      { error: expect.stringContaining('circular') as string },
      { result: null },
      { error: 'an error without a message was thrown' },
      { error: 'The tool failed without a message.' },
    ]);
  });

  it('answers with an error if the history refuses a result', async () => {
    const loop = await loopOf(scripted([call('1', 'huge')], [say('ok')]), {
      huge: () => 'x'.repeat(9 * 1024 * 1024),
    });
    await loop.sendMessage('go');
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([
      { callId: '1', result: null, error: expect.stringContaining('at most') as string },
    ]);
  });

  it('keeps the other results if the history refuses one of them', async () => {
    const loop = await loopOf(scripted([call('1', 'huge'), call('2', 'small')], [say('ok')]), {
      huge: () => 'x'.repeat(9 * 1024 * 1024),
      small: () => 'kept',
    });
    await loop.sendMessage('go');
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([
      { callId: '1', result: null, error: expect.stringContaining('at most') as string },
      { callId: '2', result: 'kept' },
    ]);
  });

  it('answers every call if the history refuses the results together', async () => {
    const loop = await loopOf(scripted([call('1', 'big'), call('2', 'big')], [say('ok')]), {
      big: () => 'x'.repeat(5 * 1024 * 1024),
    });
    await loop.sendMessage('go');
    const error = expect.stringContaining('at most') as string;
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([{ error }, { error }]);
  });

  it('ends with CLOSED when the session is closed while a tool runs and the reader pauses', async () => {
    const loop = await loopOf(scripted([call('1', 'read')]), {
      read: () => new Promise((resolve) => setTimeout(resolve, 1)),
    });
    const play = async (): Promise<void> => {
      for await (const { type } of loop.sendMessageStream('go')) {
        if (type !== 'response') continue;
        await loop.session.close();
        // A rejection without a handler by now would end the process.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    };
    await expect(play()).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('gives up on a stream whose return throws', async () => {
    const chunks = {
      next: () => Promise.reject(new Error('the connection broke')),
      return: (): never => {
        throw new Error('of return');
      },
    };
    const model: ChatModel = { stream: () => ({ [Symbol.asyncIterator]: () => chunks }) };
    await expect((await loopOf(model, {})).sendMessage('go')).rejects.toThrow('connection broke');
  });

  it('prunes a stale read before the model is called again', async () => {
    const model = scripted(
      [call('r1')],
      [call('w2', 'write_file', { file_path: 'a.ts', content: 'new' })],
      [say('done')],
    );
    const loop = await loopOf(model, { read_file: () => 'old', write_file: () => 'ok' });
    await loop.sendMessage('go');
    expect(model.requests[1]).toContain('r1');
    expect(model.requests[2]).not.toContain('r1');
  });

  it('answers messages one after another', async () => {
    const model = scripted([call('r1')], [say('first')], [say('second')]);
    const loop = await loopOf(model);
    const [first, second] = await Promise.all([loop.sendMessage('one'), loop.sendMessage('two')]);
    expect([first.response?.blocks, second.response?.blocks]).toMatchObject([
      [{ text: 'first' }],
      [{ text: 'second' }],
    ]);
    expect(speakers(loop.session)).toBe('human ai tool ai human ai');
  });

  it('stops calling a model that never stops calling tools', async () => {
    const model: ChatModel = {
      async *stream() {
        await Promise.resolve();
        yield call('r1');
      },
    };
    const loop = await loopOf(model, { read_file: () => 'x' }, { maxModelCalls: 3 });
    expect(await loop.sendMessage('go')).toMatchObject({
      reason: 'max-model-calls',
      modelCalls: 3,
    });
    expect(findViolations(loop.session.history.getAll())).toEqual([]);
  });

  it('ends without a response if the model returns nothing', async () => {
    const loop = await loopOf(scripted([]));
    expect(await loop.sendMessage('go')).toEqual({
      response: null,
      reason: 'empty',
      modelCalls: 1,
    });
  });

  it('treats a response with only reasoning as none, because providers refuse it later', async () => {
    const loop = await loopOf(scripted([{ type: 'thinking', thought: 'hm', signature: 's' }]));
    expect(await loop.sendMessage('hello')).toMatchObject({ response: null, reason: 'empty' });
    expect(loop.session.history.length).toBe(1);
  });

  it('passes on what the model throws, and answers the next message', async () => {
    const responses = [
      (): ChatChunk => {
        throw new Error('overloaded');
      },
      () => say('ok'),
    ];
    const model: ChatModel = {
      async *stream() {
        await Promise.resolve();
        const next = responses.shift();
        if (next !== undefined) yield next();
      },
    };
    const loop = await loopOf(model);
    await expect(loop.sendMessage('one')).rejects.toThrow('overloaded');
    expect(await loop.sendMessage('two')).toMatchObject({ reason: 'answered' });
  });

  it('gives up on a model that neither answers nor listens to the signal', async () => {
    const model: ChatModel = {
      stream: () => ({
        [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => undefined) }),
      }),
    };
    const loop = await loopOf(model, {}, { modelTimeoutMs: 20 });
    await expect(loop.sendMessage('go')).rejects.toMatchObject({
      name: 'TimeoutError',
      code: 'TURN_TIMEOUT',
    });
  });

  it('answers the calls that an abort interrupts', async () => {
    const controller = new AbortController();
    const quick = vi.fn(() => 'x');
    const stuck = (): Promise<never> => {
      controller.abort(new Error('enough'));
      return new Promise(() => undefined);
    };
    const model = scripted([call('1', 'stuck'), call('2', 'quick')]);
    const loop = await loopOf(model, { stuck, quick }, { maxModelCalls: 1 });
    await expect(loop.sendMessage('go', { signal: controller.signal })).rejects.toThrow('enough');
    expect(loop.session.history.getAll()[2]?.blocks).toMatchObject([
      { callId: '1', error: 'enough' },
      { callId: '2', error: 'enough' },
    ]);
    expect(quick).not.toHaveBeenCalled();
    expect(findViolations(loop.session.history.getAll())).toEqual([]);
  });

  it('leaves no call open when the reader stops at the response', async () => {
    const loop = await loopOf(scripted([call('r1')]));
    for await (const event of loop.sendMessageStream('go')) if (event.type === 'response') break;
    expect(speakers(loop.session)).toBe('human ai tool');
    expect((await loop.sendMessage('on')).reason).toBe('empty');
  });

  it('joins the parts of a streamed thought up to its signature', async () => {
    const loop = await loopOf(
      scripted([
        { type: 'thinking', thought: 'a' },
        { type: 'thinking', thought: 'b', signature: 's1' },
        { type: 'thinking', thought: 'c' },
        say('ok'),
        { type: 'finish', usage: { inputTokens: 1 } },
      ]),
    );
    const { response } = await loop.sendMessage('go');
    expect(response?.blocks).toEqual([
      { type: 'thinking', thought: 'ab', signature: 's1' },
      { type: 'thinking', thought: 'c' },
      { type: 'text', text: 'ok' },
    ]);
    expect(response?.metadata).toMatchObject({ model: 'scripted', usage: { inputTokens: 1 } });
  });

  it('reports the usage of each response while the history is what was sent', async () => {
    const finish = (usage: unknown): ChatChunk => ({ type: 'finish', usage });
    const loop = await loopOf(
      scripted(
        [call('r1'), finish({ inputTokens: 4_000, outputTokens: 9 })],
        [say('done'), finish({ inputTokens: 4_400 })],
      ),
    );
    const { session } = loop;
    const reports: unknown[] = [];
    const report = session.reportUsage.bind(session);
    vi.spyOn(session, 'reportUsage').mockImplementation((usage) => {
      const outcome = report(usage);
      reports.push([usage, outcome, speakers(session), session.contextUsage()]);
      return outcome;
    });
    await loop.sendMessage('x'.repeat(8_000));
    expect(reports).toEqual([
      [
        { inputTokens: 4_000, modelName: 'scripted' },
        'learned',
        'human',
        { tokens: 4_000, source: 'reported' },
      ],
      [
        { inputTokens: 4_400, modelName: 'scripted' },
        'learned',
        'human ai tool',
        { tokens: 4_400, source: 'reported' },
      ],
    ]);
    expect(session.contextUsage().source).toBe('estimated');
    expect(session.contextUsage().tokens).toBeGreaterThan(4_000);
  });

  it.each([
    ['none', undefined],
    ['null', null],
    ['a text', 'many'],
    ['other names', { input_tokens: 5 }],
    ['a string for a number', { inputTokens: '5' }],
    ['NaN', { inputTokens: NaN }],
    ['Infinity', { inputTokens: Infinity }],
    ['a negative number', { inputTokens: -5 }],
  ])('ignores usage without input tokens: %s', async (_, usage) => {
    const loop = await loopOf(scripted([say('ok'), { type: 'finish', usage }]));
    const reportUsage = vi.spyOn(loop.session, 'reportUsage');
    expect(await loop.sendMessage('go')).toMatchObject({ reason: 'answered' });
    expect(reportUsage).not.toHaveBeenCalled();
  });

  it.each([
    ['maxModelCalls', 0, 0],
    ['modelTimeoutMs', 1.5, 1.5],
    ['modelTimeoutMs', 2 ** 31, 2 ** 31],
    ['toolTimeoutMs', '3', 'the string "3"'],
    ['toolTimeoutMs', null, 'null'],
  ])('refuses a %s of %j', async (name, value, named) => {
    await expect(loopOf(scripted(), {}, { [name]: value })).rejects.toThrow(
      new RangeError(`Expected ${name} to be a whole number of at least 1, got ${named}.`),
    );
  });

  it.each([
    ['session', {}, 'Expected session to be one of a compactor, got an object.'],
    ['model', {}, 'Expected stream of the model to be a function, got undefined.'],
  ])('refuses another %s', async (name, value, message) => {
    await expect(loopOf(scripted(), {}, { [name]: value })).rejects.toThrow(new TypeError(message));
  });
});
