// Conversations with a model that binds reasoning to its prefix, which are compacted or not compacted from some call on: no request
// may hold reasoning with another prefix.

import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { createEngine } from '../../../src/gateway/engine/engine.js';
import type { Engine, EngineAnswer, EngineCall } from '../../../src/gateway/engine/protocol.js';
import type { GatewayMode } from '../../../src/gateway/server/options.js';
import { gatewayWorld } from '../../support/gateway-world.js';
import type { GatewayWorld } from '../../support/gateway-world.js';
import { sample } from '../../support/scale.js';
import { partsOfMessages, ReasoningSeals } from '../../support/thinking-provider.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** Calls before the switch: within a turn, and at the start of the next one. */
const SWITCHES = sample([7, 10, 16], 1);
const CALLS = 20;
const CALLS_OF_TURN = 10;

interface Played {
  /** Calls that the provider would refuse. */
  readonly refused: number[];
  /** Whether a call was sent with fewer bytes than given. */
  readonly edited: boolean[];
  /** Number of reasoning blocks in each call. */
  readonly reasoning: number[];
}

/** Plays calls with nearly equal results; `send` sends each. */
async function play(
  world: GatewayWorld,
  send: (call: number, body: string) => ReturnType<GatewayWorld['send']>,
): Promise<Played> {
  const seals = new ReasoningSeals();
  const played: Played = { refused: [], edited: [], reasoning: [] };
  const messages: object[] = [{ role: 'user', content: 'make it work' }];
  let call = 0;
  world.answer = ({ body }, response) => {
    const parts = partsOfMessages((JSON.parse(body.toString()) as { messages: object[] }).messages);
    if (seals.broken(parts).length > 0) {
      played.refused.push(call);
      response.statusCode = 400;
      response.end('{"error":{"message":"The block is bound to a different conversation."}}');
      return;
    }
    played.reasoning.push(parts.filter(({ seal }) => seal !== undefined).length);
    response.setHeader('x-seal', seals.seal(parts));
    response.end('{"usage":{"input_tokens":9,"output_tokens":5}}');
  };
  for (; call < CALLS; call += 1) {
    const body = JSON.stringify({
      ...{ model: 'claude-opus-5-5', max_tokens: 100, thinking: { type: 'adaptive' } },
      ...{ tools: [{ name: 'read_file' }], messages },
    });
    let { headers } = await send(call, body);
    // Like an agent whose user tells it to continue.
    while (headers['x-seal'] === undefined) {
      if (played.refused.length > CALLS) return played;
      await delay(20);
      ({ headers } = await send(call, body));
    }
    played.edited.push(world.received.at(-1)!.body.length < body.length);
    const thinking = { type: 'thinking', thinking: 'hm', signature: headers['x-seal'] };
    const use = {
      type: 'tool_use',
      id: `t${call}`,
      name: 'read_file',
      input: { path: 'src/a.ts' },
    };
    const text = Array.from(
      { length: 60 },
      (_, at) => `line ${at} of ${at === call ? call : 'it'}`,
    );
    const result = { type: 'tool_result', tool_use_id: `t${call}`, content: text.join('\n') };
    if (call % CALLS_OF_TURN === CALLS_OF_TURN - 1)
      messages.push({ role: 'assistant', content: [thinking, { type: 'text', text: 'done' }] });
    else messages.push({ role: 'assistant', content: [thinking, use] });
    const isLast = call % CALLS_OF_TURN === CALLS_OF_TURN - 1;
    messages.push({ role: 'user', content: isLast ? `go on after ${call}` : [result] });
  }
  return played;
}

const switchTo = (world: GatewayWorld, mode: GatewayMode): ReturnType<GatewayWorld['send']> =>
  world.send('/ctxfold/mode', { body: JSON.stringify({ mode }) });

/** Waits until the gateway has read `calls` calls. */
async function hasRead(world: GatewayWorld, calls: number): Promise<void> {
  const read = async (): Promise<unknown> => {
    const { body } = await world.send('/ctxfold/state', { method: 'GET' });
    return (JSON.parse(body.toString()) as { conversations: { calls: number }[] }).conversations[0]
      ?.calls;
  };
  await expect.poll(read).toBe(calls);
}

describe.each(SWITCHES)('after %d unedited calls', (calls) => {
  const isCompacted = (played: Played): void => {
    expect(played.refused).toEqual([]);
    expect(played.edited.slice(calls)).toEqual(Array.from({ length: CALLS - calls }, () => true));
    // The reasoning of compacted calls stays.
    expect(played.reasoning.at(-1)).toBeGreaterThanOrEqual(CALLS - calls - CALLS_OF_TURN);
  };

  it('an observed conversation is compacted', async () => {
    const world = await gatewayWorld({ mode: 'observe' });
    const played = await play(world, async (call, body) => {
      if (call === calls) {
        await hasRead(world, calls);
        await switchTo(world, 'compact');
      }
      return world.send('/v1/messages', { body });
    });
    isCompacted(played);
  });

  it('a side call of an observed conversation is sent unchanged until a call is compacted', async () => {
    const world = await gatewayWorld({ mode: 'observe' });
    const { refused } = await play(world, async (call, body) => {
      if (call === calls) {
        await hasRead(world, calls);
        await switchTo(world, 'compact');
        const aside = body.replace('[{"name":"read_file"}]', '[]');
        await world.send('/v1/messages', { body: aside });
        expect(world.received.at(-1)!.body.toString()).toBe(aside);
      }
      return world.send('/v1/messages', { body });
    });
    expect(refused).toEqual([]);
  });

  it('a compacted conversation stays compacted when the gateway switches to observe, unlike others', async () => {
    const world = await gatewayWorld({ mode: 'compact' });
    const played = await play(world, async (call, body) => {
      if (call === calls) await switchTo(world, 'observe');
      return world.send('/v1/messages', { body });
    });
    expect(played.refused).toEqual([]);
    expect(played.edited.slice(3)).toEqual(Array.from({ length: CALLS - 3 }, () => true));
    const { body } = await world.send('/ctxfold/state', { method: 'GET' });
    const [held] = (JSON.parse(body.toString()) as { conversations: { line: { id: string } }[] })
      .conversations;
    const asked = JSON.stringify({ mode: 'observe', conversation: held!.line.id });
    const answer = await world.send('/ctxfold/mode', { body: asked });
    expect(answer.status).toBe(409);
    expect(answer.body.toString()).toContain('Switch a new conversation instead.');
    const others = await play(world, (_, given) =>
      world.send('/v1/messages', { body: given.replace('make it work', 'make it good') }),
    );
    expect(others.refused).toEqual([]);
    expect(others.edited).not.toContain(true);
  });

  it('a conversation that is new to the gateway is compacted', async () => {
    const world = await gatewayWorld({ mode: 'compact' });
    const played = await play(world, (call, body) =>
      call < calls
        ? world.sendDirectly('/v1/messages', { body })
        : world.send('/v1/messages', { body }),
    );
    isCompacted(played);
  });
});

it('an engine removes refused reasoning, where another gateway may have edited', async () => {
  const store = temporaryFolder();
  const world = await gatewayWorld({ mode: 'compact', store });
  const { refused, edited } = await play(world, (call, body) =>
    call < 7 ? world.sendDirectly('/v1/messages', { body }) : world.send('/v1/messages', { body }),
  );
  expect(new Set(refused).size).toBe(1);
  expect(edited.slice(8)).toEqual(Array.from({ length: CALLS - 8 }, () => true));
});

it.each(SWITCHES)(
  'an engine does not restore reasoning from before call %d when the last message changes',
  async (calls) => {
    const world = await gatewayWorld({ mode: 'compact' });
    const { refused } = await play(world, async (call, body) => {
      if (call < calls) return world.sendDirectly('/v1/messages', { body });
      const given = JSON.parse(body) as { messages: { content: object[] }[] };
      const [last] = given.messages.slice(-1);
      // Like Claude Code before a summary.
      if (call === CALLS - 1 && Array.isArray(last!.content)) {
        last!.content.push({ type: 'text', text: 'summarize' });
        await world.send('/v1/messages', { body: JSON.stringify(given) });
      }
      return world.send('/v1/messages', { body });
    });
    expect(refused).toEqual([]);
  },
);

it('a restarted gateway says what to do if it observes a conversation that another one compacted', async () => {
  const worlds = [await gatewayWorld({ mode: 'compact' }), await gatewayWorld({ mode: 'observe' })];
  const { refused } = await play(worlds[0]!, async (call, body) => {
    worlds[1]!.answer = worlds[0]!.answer;
    return worlds[call < 10 ? 0 : 1]!.send('/v1/messages', { body });
  });
  expect(refused[0]).toBe(10);
  const { body } = await worlds[1]!.send('/ctxfold/state', { method: 'GET' });
  expect(body.toString()).toContain('in mode compact they go on');
});

it('an engine keeps the reasoning of a conversation that it has seen from the start', async () => {
  const world = await gatewayWorld({ mode: 'compact' });
  const played = await play(world, (_, body) => world.send('/v1/messages', { body }));
  expect(played.refused).toEqual([]);
  expect(played.edited.slice(3)).toEqual(Array.from({ length: CALLS - 3 }, () => true));
  expect(played.reasoning).toEqual(Array.from({ length: CALLS }, (_, call) => call));
});

describe('reasoning that the model may have produced from other messages', () => {
  const CALL = { api: 'anthropic', scope: 'key', name: undefined, model: undefined } as const;

  /** Messages with `calls` calls, each with reasoning, and results of `lines` lines. */
  const messagesOf = (calls: number, lines = 1): readonly object[] => [
    { role: 'user', content: 'make it work' },
    ...Array.from({ length: calls }, (_, at) => [
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'hm', signature: `seal ${at}` },
          { type: 'tool_use', id: `t${at}`, name: 'bash', input: { command: `run ${at}` } },
        ],
      },
      {
        role: 'user',
        content: [
          {
            type: 'tool_result',
            tool_use_id: `t${at}`,
            content: Array.from(
              { length: lines },
              (_, line) => `${at}: ${line ** 3} was found`,
            ).join('\n'),
          },
        ],
      },
    ]).flat(),
  ];

  async function engineFor(): Promise<
    (messages: readonly object[], call?: Partial<EngineCall>) => Promise<EngineAnswer>
  > {
    engine = await createEngine({ maxConversations: 9 });
    return (messages, call = {}) => {
      const body = { model: 'claude-opus-5-5', tools: [{ name: 'bash' }], messages };
      const bytes = Buffer.from(JSON.stringify(body));
      return engine.compact({ ...CALL, ...call, body: bytes });
    };
  }
  let engine: Engine;
  afterEach(() => engine.close());

  const seals = ({ body }: EngineAnswer): readonly string[] =>
    body?.toString().match(/seal \d/g) ?? [];

  it('stays in an observed conversation', async () => {
    const ask = await engineFor();
    expect((await ask(messagesOf(3), { isObserved: true })).outcome).toBe('unchanged');
  });

  it('leaves once, and later reasoning stays', async () => {
    const ask = await engineFor();
    const first = await ask(messagesOf(1));
    expect([first.outcome, seals(first)]).toEqual(['edited', []]);
    engine.noteBoundReasoning(first.conversation!.id);
    expect(seals(await ask(messagesOf(2)))).toEqual([]);
    expect(seals(await ask(messagesOf(3)))).toEqual(['seal 2']);
  });

  it('leaves from a request that was refused as too long, too, which becomes shorter', async () => {
    const ask = await engineFor();
    const refusal = 'prompt is too long: 30000 tokens > 10000 maximum';
    const longer = await ask(messagesOf(9, 900), { scope: 'another key' });
    const shorter = await ask(messagesOf(9, 900), { refusal });
    expect(seals(shorter)).toEqual([]);
    expect(shorter.body!.length).toBeLessThan(longer.body!.length / 2);
  });
});
