// A server with thousands of conversations only looks at the requested one.

import { describe, expect, it } from 'vitest';
import { SILENT_LOGGER } from '../../../src/main/host/logger.js';
import { ownConversations } from '../../support/own-conversations.js';
import { assistant, PLAIN_MESSAGE_FORMAT, user } from '../../support/plain-message-format.js';
import { stepsOfMaps } from '../../support/steps-of-maps.js';
import { openCompactor } from '../../support/open-compactor.js';

/** Number of map entries that a call of the most recent conversation visits among `count` conversations. */
async function stepsAmong(count: number): Promise<number> {
  const compactor = openCompactor();
  const { compact } = ownConversations(compactor, PLAIN_MESSAGE_FORMAT, {
    maxConversations: 1_000,
  });
  const asked = [user('a'), assistant('x')];
  for (let at = 0; at < count; at += 1) await compact(asked, { conversationId: `${at}` });
  const last = { conversationId: `${count - 1}` };
  return stepsOfMaps(() => compact([...asked, user('y')], last));
}

it('finding a named conversation visits none of the others', async () => {
  expect(await stepsAmong(60)).toBe(await stepsAmong(2));
});

describe('warns that conversations share an id', () => {
  /** Warnings of calls under one id: each has a first message and, behind `/`, the branch that it goes on with. */
  async function warningsOf(...calls: readonly string[]): Promise<readonly string[]> {
    const warnings: string[] = [];
    const logger = { ...SILENT_LOGGER, warn: (said: string) => warnings.push(said) };
    const { compact } = ownConversations(openCompactor(), PLAIN_MESSAGE_FORMAT, { logger });
    for (const [at, call] of calls.entries()) {
      const [first = '', branch = first] = call.split('/');
      const rest = [...Array(at).keys()].map((turn) => assistant(`${branch} ${turn}`));
      await compact([user(first), ...rest], { conversationId: 'shared' });
    }
    return warnings;
  }

  it('once, when they take turns', async () => {
    const warnings = await warningsOf('a', 'b', 'a', 'b', 'a');
    expect(warnings).toEqual([expect.stringContaining('give each an id of its own')]);
  });

  it.each([
    ['a conversation goes on', 'a', 'a', 'a', 'a'],
    ['one follows another', 'a', 'a', 'b', 'b'],
    ['it branches', 'a/1', 'a/2', 'a/3', 'a/4'],
    ['its first message changes', 'a', 'a at 1', 'a at 2', 'a at 3'],
    ['its first message changes to and fro', 'a/1', 'b/1', 'a/1', 'b/1'],
  ])('not when %s', async (_, ...calls) => {
    expect(await warningsOf(...calls)).toEqual([]);
  });
});
