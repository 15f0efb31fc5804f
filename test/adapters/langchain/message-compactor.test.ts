// Recorded sessions with many writes, as messages of LangChain: arguments that are no longer needed are not sent.

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { DEFAULT_WORKING_SET } from '../../../src/density.js';
import { messageCompactor } from '../../../src/adapters/langchain/message-compactor.js';
import { createCompactor } from '../../../src/main/compactor.js';
import type { Compactor } from '../../../src/main/compactor.js';
import type { CostReport } from '../../../src/main/preflight/cost-meter.js';
import type { ContextUsage } from '../../../src/main/preflight/context-gauge.js';
import type { Session } from '../../../src/main/session.js';
import { humanText } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { memoryStore } from '../../../src/state.js';
import { recordedEntries } from '../../support/recorded-talks.js';
import { aiMessageOf } from './arbitrary-base-messages.js';

const RECORDING = 'claude-code/entireio-cli__9f-d2fc39aa5f-0.jsonl';
/** Model answers between two played requests. */
const PER_REQUEST = 5;

/** Messages like those of the OpenAI package; `isBound` adds fields that bind each call to its arguments. */
function messagesOf(entries: readonly IContent[], isBound: boolean): readonly BaseMessage[] {
  return entries.flatMap(({ speaker, blocks }): readonly BaseMessage[] => {
    const content = blocks
      .flatMap((block) => (block.type === 'text' ? block.text : []))
      .join('\n\n');
    if (speaker === 'human') return [new HumanMessage(content)];
    if (speaker === 'ai') {
      const calls = blocks.filter((block) => block.type === 'tool_call');
      const message = aiMessageOf({
        content,
        tool_calls: calls.map(({ id, name, parameters: args }) => ({ id, name, args })),
        additional_kwargs: {
          tool_calls: calls.map(({ id, name, parameters }) => ({
            ...{ id, type: 'function' },
            function: { name, arguments: JSON.stringify(parameters, null, 1) },
          })),
          ...(isBound && { reasoning_details: calls.map(({ id }) => ({ id })) }),
        },
      });
      return [message];
    }
    return blocks.flatMap((block) =>
      block.type !== 'tool_response'
        ? []
        : new ToolMessage({
            ...{ tool_call_id: block.callId, name: block.toolName },
            content: JSON.stringify(block.result),
          }),
    );
  });
}

const OPTIONS = {
  ...({ edits: 'every-turn', onError: 'throw' } as const),
  density: { workingSet: { ...DEFAULT_WORKING_SET, paybackCalls: Infinity, freeTokens: 0 } },
};

interface Played {
  /** The messages of each request. */
  readonly sent: readonly (readonly BaseMessage[])[];
  readonly costs: CostReport;
  readonly usage: ContextUsage;
}

/** Plays a conversation through compactors in turn. */
async function play(
  messages: readonly BaseMessage[],
  compactors: readonly Compactor[],
): Promise<Played> {
  const sessions: Session[] = [];
  const ways = compactors.map((compactor) =>
    messageCompactor(compactor, { ...OPTIONS, onSession: (of) => void sessions.push(of) }),
  );
  const sent: (readonly BaseMessage[])[] = [];
  const answers = messages.flatMap((message, at) =>
    AIMessage.isInstance(message) && at > 0 ? [at] : [],
  );
  const ends = answers.filter((_, at) => at % PER_REQUEST === 0);
  for (const [at, end] of [...ends, messages.length].entries()) {
    const compact = ways[at % ways.length]!;
    sent.push(await compact(messages.slice(0, end), { conversationId: 'one' }));
  }
  const last = sessions.at(-1)!;
  return { sent, costs: last.costs(), usage: last.contextUsage() };
}

const open = (store?: ReturnType<typeof memoryStore>): Compactor =>
  createCompactor({ offload: 'inline', contextLimit: 200_000, store });

/** An agent that rewrites four modules again and again. */
function rewrites(): readonly IContent[] {
  return Array.from({ length: 24 }, (_, at): readonly IContent[] => {
    const id = `call_${at}`;
    const lines = Array.from(
      { length: 80 },
      (_line, number) => `const a${number} = ${at * number};`,
    );
    const parameters = { file_path: `/w/${at % 4}.ts`, content: lines.join('\n') };
    const call = { type: 'tool_call', id, name: 'write_file', parameters } as const;
    const response = { callId: id, toolName: 'write_file', result: 'written' };
    return [
      ...(at % 10 === 0 ? [humanText(`Task ${at}.`)] : []),
      { speaker: 'ai', blocks: [call] },
      { speaker: 'tool', blocks: [{ type: 'tool_response', ...response }] },
    ];
  }).flat();
}

const tell = ({ sent }: Played): string[] => sent.map((messages) => JSON.stringify(messages));

describe('a session of LangChain with many writes', () => {
  it.each<[string, () => Promise<readonly IContent[]>, number]>([
    ['a recorded one', () => recordedEntries(RECORDING), 0.05],
    ['one that writes files whole', () => Promise.resolve(rewrites()), 0.5],
  ])('is sent with fewer tokens than with fixed arguments: %s', async (_, load, atLeast) => {
    const entries = await load();
    await using compactor = open();
    await using other = open();
    const { sent, costs, usage } = await play(messagesOf(entries, false), [compactor]);
    const bound = await play(messagesOf(entries, true), [other]);
    expect(1 - costs.sentTokens / bound.costs.sentTokens).toBeGreaterThan(atLeast);
    // The session counts what the last request holds.
    await using counter = open();
    let session: Session | undefined;
    const onSession = (of: Session): void => void (session = of);
    const unedited = { edits: 'append-only', density: { shrink: 'off' }, onSession } as const;
    await messageCompactor(counter, unedited)(sent.at(-1)!);
    expect(usage).toEqual(session?.contextUsage());
  });

  it('is sent byte for byte the same by several processes with a store as by one', async () => {
    const messages = messagesOf(rewrites(), false);
    await using one = open();
    const store = memoryStore();
    await using first = open(store);
    await using second = open(store);
    const expected = tell(await play(messages, [one]));
    expect(expected.at(-1)).toContain('[left out: ');
    expect(tell(await play(messages, [first, second]))).toEqual(expected);
  });
});
