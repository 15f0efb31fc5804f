// Hostile values in every field of every adapter's messages. Each would have ended the process with a cycle, hung on an
// array that contains itself, failed the call with an engine TypeError, or broken its conversation for good.

import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { createCompactor } from '../../src/index.js';
import { deepFreeze } from '../support/deep-freeze.js';
import { HOSTILE_VALUES, hostilePlacements } from '../support/hostile-values.js';
import { runs } from '../support/scale.js';
import { ADAPTER_SAMPLES } from './adapter-samples.js';
import type { AdapterSample, Compact } from './adapter-samples.js';
import { isMeant, spread, describeError, watchForChanges } from './refusals.js';

const compactor = createCompactor({
  offload: 'inline',
  tokenizer: 'estimate',
  contextLimit: 4_000_000,
});
afterAll(() => compactor.close());

const rejections: unknown[] = [];
const note = (reason: unknown): void => {
  rejections.push(reason);
};
process.on('unhandledRejection', note);
afterAll(() => process.off('unhandledRejection', note));

afterEach(() => {
  expect(rejections).toEqual([]);
});

function open({ open: make }: AdapterSample): Compact {
  return make(compactor, { edits: 'every-turn', maxConversations: 4, onError: 'throw' });
}

/** How the errors of each reader refer to a message. */
const NAMED = /\b(?:messages? \d+|messages\[\d+\]|contents\[\d+\]|item \d+)|an array of messages/;

describe.each(ADAPTER_SAMPLES)('messages of $name', (sample) => {
  const { talk, more, made = (message: unknown): unknown => message } = sample;
  const compact = open(sample);

  /** Each value as the whole list, and at each place of the messages after the conversation. */
  const attacks = [
    ...HOSTILE_VALUES,
    ...hostilePlacements(more)
      .filter(({ name }) => !name.endsWith(' at the root'))
      .map(({ name, make }) => ({
        name,
        make: () => [...deepFreeze(talk()), ...(make() as unknown[]).map(made)],
      })),
  ];

  it('are pruned when they are valid', async () => {
    const messages = [...talk(), ...more().map(made)];
    const compacted = await compact(messages);
    expect(JSON.stringify(compacted).length).toBeLessThan(JSON.stringify(messages).length);
    expect(compacted.at(-1)).toBe(messages.at(-1));
  });

  it('are accepted, or refused with the number of the message, and the conversation goes on', async () => {
    const expected = JSON.stringify(await compact(talk()));
    const played = spread(attacks, runs(2_500, 60));
    let refused = 0;
    for (const { name, make } of played) {
      const before = deepFreeze(talk());
      await compact(before);
      const messages = make();
      const assertUnchanged = watchForChanges(messages);
      try {
        const compacted = await compact(messages);
        expect(compacted.at(-1), name).toBe((messages as unknown[]).at(-1));
      } catch (error) {
        expect(isMeant(error), `${name}: ${describeError(error)}`).toBe(true);
        expect((error as Error).message, name).toMatch(NAMED);
        refused += 1;
      }
      assertUnchanged();
      expect(JSON.stringify(await compact(before)), name).toBe(expected);
    }
    expect(refused).toBeGreaterThan(0);
    expect(refused).toBeLessThan(played.length);
  });
});
