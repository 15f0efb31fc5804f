// A conversation that branches in another process reuses the edits and summaries from before the branch.

import type { ChatCompletionMessageParam as ChatMessage } from 'openai/resources/chat/completions';
import { expect, it } from 'vitest';
import { chatCompactor } from '../../../src/openai.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import { memoryStore } from '../../../src/state.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import { openCompactor } from '../../support/open-compactor.js';

const LONG = 'lorem ipsum dolor '.repeat(60);

function turn(at: number, name: string = 'a'): ChatMessage[] {
  return [
    { role: 'user', content: `${name} ${at}` },
    { role: 'assistant', content: `${name} ${at}: ${LONG}` },
  ];
}

/** Serves a conversation in its own process; returns the last sent messages and the number of summary requests. */
async function serve(
  store: StateStore,
  messages: readonly ChatMessage[],
  from: number,
): Promise<{ sent: ChatMessage[]; summaries: number }> {
  const summarizer = scriptedSummarizer(() => snapshot('what was said'));
  const compactor = openCompactor({
    ...{ contextLimit: 2_400, store, summarizer },
    settings: { 'compression.strategy': 'middle-out', 'compression.ahead': 1 },
  });
  const compact = chatCompactor(compactor, { onError: 'throw' });
  let sent: ChatMessage[] = [];
  for (let length = from; length <= messages.length; length += 2) {
    sent = await compact(messages.slice(0, length));
  }
  await compactor.close();
  return { sent, summaries: summarizer.requests.length };
}

it.each([24, 28, 33])(
  'a branch at message %i reuses the summary of the messages before it',
  async (branch) => {
    const store = memoryStore();
    const first = Array.from({ length: 40 }, (_, at) => turn(at)).flat();
    const before = [...first.slice(0, branch | 1)];
    const until = await serve(memoryStore(), before, 1);
    const whole = await serve(store, [...first, { role: 'user', content: 'on' }], 1);
    expect(whole.summaries).toBeGreaterThan(until.summaries);
    expect(until.summaries).toBeGreaterThan(0);
    const other = await serve(store, before, before.length);
    expect(other.summaries).toBe(0);
    expect(other.sent).toEqual(until.sent);
  },
);
