// A server with thousands of conversations looks only at the one that it is asked about.

import { expect, it, onTestFinished } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import { ownConversations } from '../../support/own-conversations.js';
import { assistant, PLAIN_MESSAGE_FORMAT, user } from '../../support/plain-message-format.js';
import { stepsOfMaps } from '../../support/steps-of-maps.js';

/** How far a call of the conversation that was used last goes through maps, when there are so many. */
async function stepsAmong(count: number): Promise<number> {
  const compactor = createCompactor({ offload: 'inline', tokenizer: 'estimate' });
  onTestFinished(() => compactor.close());
  const { compact } = ownConversations(compactor, PLAIN_MESSAGE_FORMAT, {
    maxConversations: 1_000,
  });
  const asked = [user('a'), assistant('x')];
  for (let at = 0; at < count; at += 1) await compact(asked, { conversationId: `${at}` });
  const last = { conversationId: `${count - 1}` };
  return stepsOfMaps(() => compact([...asked, user('y')], last));
}

it('goes through none of the other conversations for one with a name', async () => {
  expect(await stepsAmong(60)).toBe(await stepsAmong(2));
});
