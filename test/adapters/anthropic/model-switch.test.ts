// One conversation with several models in turn, some of which bind thinking to its prefix: edits stay, and each model is sent only
// what it accepts.

import type Anthropic from '@anthropic-ai/sdk';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { messageCompactor } from '../../../src/adapters/anthropic/message-compactor.js';
import type { MessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { sightings } from '../../support/scale.js';
import { partsOfMessages, ReasoningSeals } from '../../support/thinking-provider.js';

type Message = Anthropic.MessageParam;

const LONG = 'lorem ipsum dolor '.repeat(60);

/** A unique text: equal results would be shrunk so much that no compression would become due. */
const longTextOf = (at: number): string => LONG.replaceAll('dolor', `dolor${at}`);

const BUDGET = 'claude-sonnet-4-5';
const BINDING = 'claude-opus-5-5';

/** The signature of a model with a budget, which does not bind its thinking. */
const UNBOUND = 'unbound';

/** An agent that reads a few files again and again, whose answers begin with thinking. */
class Agent {
  readonly messages: Message[] = [{ role: 'user', content: 'Go.' }];
  readonly #seals = new ReasoningSeals();
  #answers = 0;

  /** Adds the model's answer to these messages, and the next input. */
  go(sent: readonly Message[], model: string | undefined): void {
    this.#answers += 1;
    const id = `toolu_${this.#answers}`;
    const signature = model === BUDGET ? UNBOUND : this.#seals.seal(boundParts(sent));
    const thinking = { type: 'thinking', thinking: 'Hm.', signature } as const;
    if (this.#answers % 7 === 0) {
      const content = [thinking, { type: 'text', text: 'Done.' } as const];
      const next = { role: 'user', content: longTextOf(this.#answers) } as const;
      this.messages.push({ role: 'assistant', content }, next);
      return;
    }
    const name = this.#answers % 3 === 0 ? 'write_file' : 'read_file';
    const input = { file_path: `/p${this.#answers % 4}.ts`, content: 'x' };
    const content = longTextOf(this.#answers);
    const result = { type: 'tool_result', tool_use_id: id, content } as const;
    this.messages.push(
      { role: 'assistant', content: [thinking, { type: 'tool_use', id, name, input }] },
      { role: 'user', content: [result] },
    );
  }

  /** Whether a request has thinking that is bound to another prefix. */
  isBroken(sent: readonly Message[]): boolean {
    return this.#seals.broken(boundParts(sent)).length > 0;
  }
}

function boundParts(messages: readonly Message[]): ReturnType<typeof partsOfMessages> {
  return partsOfMessages(messages).filter(({ seal }) => seal !== UNBOUND);
}

type Call = { readonly modelName?: string | undefined; readonly isRetry: boolean };

interface Played {
  readonly sent: readonly Message[][];
  /** Requests to a model that binds thinking, with thinking that is bound to another prefix. */
  readonly broken: number;
  /** Requests to a model with a budget whose current turn begins without thinking. */
  readonly unthinking: number;
  readonly compressed: number;
}

/** Plays calls, each in a process of its own if `isShared`. */
async function play(
  calls: readonly Call[],
  { edits = 'every-turn', isShared = false, contextLimit = 200_000 }: PlayOptions = {},
): Promise<Played> {
  const store = memoryStore();
  const open = (): Compactor =>
    createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit, store },
      summarizer: scriptedSummarizer(snapshot('on we go')),
    });
  let compactor = open();
  const agent = new Agent();
  const sent: Message[][] = [];
  let [broken, unthinking, compressed] = [0, 0, 0];
  /** The model of a call; a call that names none goes to the last model. */
  let model: string | undefined;
  for (const { modelName, isRetry } of calls) {
    model = modelName ?? model;
    if (isShared) {
      await compactor.close();
      compactor = open();
    }
    const compact = messageCompactor(compactor, {
      ...{ edits, onError: 'throw' },
      onSession: (session) => session.on('compressed', () => void (compressed += 1)),
    });
    // Another process does not know the last model.
    const named = isShared ? model : modelName;
    const conversationId = isShared ? 'c' : undefined;
    const request = await compact(agent.messages, { modelName: named, conversationId });
    expect(compact.report()).toHaveLength(1);
    const isBudget = model === BUDGET;
    if (!isBudget && agent.isBroken(request)) broken += 1;
    if (isBudget && !beginsWithThinking(request)) unthinking += 1;
    sent.push(request);
    if (!isRetry) agent.go(request, model);
  }
  await compactor.close();
  return { sent, broken, unthinking, compressed };
}

interface PlayOptions {
  readonly edits?: 'every-turn' | 'auto';
  readonly isShared?: boolean;
  readonly contextLimit?: number;
}

/** Whether the current turn begins with thinking, or has no answer yet. */
function beginsWithThinking(messages: readonly Message[]): boolean {
  const isQuestion = ({ role, content }: Message): boolean =>
    role === 'user' &&
    !(Array.isArray(content) && content.some(({ type }) => type === 'tool_result'));
  const start = messages[messages.findLastIndex(isQuestion) + 1];
  return (
    start === undefined || (Array.isArray(start.content) && start.content[0]?.type === 'thinking')
  );
}

const call: fc.Arbitrary<Call> = fc.record({
  modelName: fc.constantFrom(BUDGET, BUDGET, BINDING, BINDING, 'claude-opus-4-8', undefined),
  isRetry: fc.constantFrom(false, false, false, true),
});

const size = (messages: readonly Message[] = []): number => JSON.stringify(messages).length;

describe('messageCompactor, when the model changes', () => {
  it('continues in the same session, and keeps its edits', async () => {
    const models = [BUDGET, BINDING, undefined, BUDGET, 'claude-opus-4-8', BINDING];
    const calls = Array.from({ length: 24 }, (_, at) => ({
      modelName: models[at >> 2],
      isRetry: false,
    }));
    const { sent } = await play(calls);
    const { sent: same } = await play(calls.map((each) => ({ ...each, modelName: BINDING })));
    expect(size(sent.at(-1))).toBeLessThanOrEqual(size(same.at(-1)) * 1.1);
  });

  it('sends each model only thinking that it accepts', async () => {
    let compressions = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.array(call, { minLength: 2, maxLength: 40 }),
        fc.constantFrom('every-turn' as const, 'auto' as const),
        fc.boolean(),
        fc.constantFrom(200_000, 1_500),
        async (calls, edits, isShared, contextLimit) => {
          const played = await play(calls, { edits, isShared, contextLimit });
          const { broken, unthinking, compressed } = played;
          compressions += compressed;
          expect({ broken, unthinking }).toEqual({ broken: 0, unthinking: 0 });
        },
      ),
    );
    expect(compressions).toBeGreaterThan(sightings(5));
  });

  it('keeps a summary', async () => {
    const summarizer = scriptedSummarizer(snapshot('on we go'));
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate', contextLimit: 4_000, summarizer },
      settings: {
        'compression.strategy': 'one-shot',
        'compression.threshold': 0.5,
        'compression.ahead': 1,
      },
    });
    const compact = messageCompactor(compactor, { onError: 'throw' });
    const messages = manyTurns(12);
    const [before] = await sendEach(compact, messages, [BUDGET]);
    expect(JSON.stringify(before)).toContain('on we go');
    const asked = summarizer.requests.length;
    const after = await sendEach(compact, messages, [BINDING, undefined, BUDGET]);
    for (const sent of after) expect(JSON.stringify(sent)).toContain('on we go');
    expect(summarizer.requests).toHaveLength(asked);
  });

  it('makes the same messages fit the window of another model', async () => {
    await using compactor = createCompactor({
      ...{ offload: 'inline', tokenizer: 'estimate' },
      contextLimit: (name) => (name === 'claude-haiku-4-5' ? 2_000 : 200_000),
    });
    const compact = messageCompactor(compactor, { onError: 'throw' });
    const messages = manyTurns(12);
    const [large, small] = await sendEach(compact, messages, [BUDGET, 'claude-haiku-4-5']);
    expect(large).toEqual(messages);
    expect(size(small)).toBeLessThan(8_000);
  });
});

function manyTurns(turns: number): Message[] {
  return Array.from({ length: turns }, (_, at): Message[] => [
    { role: 'user', content: `${at} ${LONG}` },
    { role: 'assistant', content: `Done with ${at}.` },
  ])
    .flat()
    .slice(0, -1);
}

async function sendEach(
  compact: MessageCompactor<Message>,
  messages: readonly Message[],
  models: readonly (string | undefined)[],
): Promise<readonly Message[][]> {
  const sent: Message[][] = [];
  for (const modelName of models) sent.push(await compact(messages, { modelName }));
  return sent;
}
