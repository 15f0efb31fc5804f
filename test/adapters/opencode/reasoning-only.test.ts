// OpenCode keeps an answer that is nothing but reasoning as a message of its own. Without a signature nothing of it is sent, so that
// it is valid only together with the answer before it.

import { describe, expect, it } from 'vitest';

import { createMessageCompactor } from '../../../src/adapters/conversation/message-compactor.js';
import { storedMessageFormat } from '../../../src/adapters/opencode/stored-message-format.js';
import type { OpenCodeMessage } from '../../../src/adapters/opencode/stored-message.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { openCompactor } from '../../support/open-compactor.js';
import { readAll } from '../../support/read-all.js';
import { assistant, said, user } from './opencode-messages.js';

describe('an answer with nothing but reasoning', () => {
  it.each(['high-density', 'top-down-truncation', 'one-shot', 'middle-out'] as const)(
    'goes with the answer before it, by %s or to fit the window',
    async (strategy) => {
      const { createReader } = storedMessageFormat;
      let edited = 0;
      for (const contextLimit of [700, 900, 1_200]) {
        const settings = { 'compression.strategy': strategy };
        const compactor = openCompactor({ contextLimit, settings });
        const compact = createMessageCompactor(compactor, storedMessageFormat, {
          onError: 'throw',
        });
        const messages: OpenCodeMessage[] = [];
        for (let turn = 0; turn < 12; turn += 1) {
          const words = said(`${turn} ${'lorem ipsum dolor '.repeat(60)}`);
          messages.push(user(`${turn} ${'lorem ipsum dolor '.repeat(60)}`));
          const sent = await compact(messages);
          if (sent.length < messages.length) edited += 1;
          expect(validate(readAll(createReader(), sent, 0).entries, 'anthropic')).toEqual([]);
          messages.push(assistant(words), assistant({ type: 'reasoning', text: 'hm' }));
          if (turn % 2 === 1) messages.push(assistant(said('short')));
        }
      }
      expect(edited).toBeGreaterThan(0);
    },
  );
});
