// The globals of the guide's samples: a compactor, and a client of a provider that accepts any request.

import { createCompactor } from 'ctxfold';

Object.assign(globalThis, {
  compactor: createCompactor({ offload: 'inline' }),
  client: {
    messages: { create: async ({ messages }) => ({ role: 'assistant', content: [], messages }) },
  },
  request: { model: 'scripted', max_tokens: 100 },
  messages: [{ role: 'user', content: 'Fix the test.' }],
});
