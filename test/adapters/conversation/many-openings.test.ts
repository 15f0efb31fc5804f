import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import { expect, it } from 'vitest';
import { chatCompactor } from '../../../src/openai.js';
import { createCompactor } from '../../../src/index.js';

/** A long conversation of an agent that reads files. */
function conversation(name: string, count: number): ChatCompletionMessageParam[] {
  const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: `Mend ${name}.` }];
  for (let at = 0; at < count; at += 1) {
    const id = `${name}-${at}`;
    const args = JSON.stringify({ path: `src/${at % 12}.ts` });
    const call = { name: 'read_file', arguments: args };
    const calls = [{ id, type: 'function', function: call } as const];
    messages.push({ role: 'assistant', content: null, tool_calls: calls });
    const line = `const value${at} = compute(${at}); // ${name}\n`;
    messages.push({ role: 'tool', tool_call_id: id, content: line.repeat(20 + (at % 7)) });
  }
  return messages;
}

it('opens long conversations that come at once one after the other, not all of them late', async () => {
  const compactor = createCompactor({ offload: 'inline' });
  const compact = chatCompactor(compactor);
  let turns = 0;
  const countTurn = (): void => {
    turns += 1;
    next = setImmediate(countTurn);
  };
  let next = setImmediate(countTurn);
  const doneAt: number[] = [];
  await Promise.all(
    Array.from({ length: 10 }, async (_, at) => {
      await compact(conversation(`m${at}`, 250), { modelName: 'gpt-5.5' });
      doneAt.push(turns);
    }),
  );
  clearImmediate(next);
  await compactor.close();
  // By turns, the first one is done when nearly all are.
  expect((doneAt[0] as number) / turns).toBeLessThan(0.6);
});
