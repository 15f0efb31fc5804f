// A server with thousands of conversations only looks at the requested one.

import { expect, it } from 'vitest';
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
