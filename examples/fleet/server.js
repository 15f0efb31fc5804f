// One server of the fleet: receives a conversation's messages with each request, compacts them, calls the provider and
// returns its answer. Keeps no state that another server would need.

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { createCompactor } from 'ctxfold';
import { messageCompactor } from 'ctxfold/anthropic';
import { openStore } from 'ctxfold/state';

const { PROVIDER, STORE, PORT } = process.env;
const { store, close } = await openStore(STORE);
const compactor = createCompactor({ store, offload: 'inline', tokenizer: 'estimate' });
const journals = new Map();
const compact = messageCompactor(compactor, {
  minReclaimTokens: 1_000,
  maxConversations: 500,
  onError: 'throw',
  onSession: (session) => journals.set(session.sessionId, session),
});

const server = createServer(async (request, response) => {
  try {
    const { conversation, turn, messages, model } = await json(request);
    const started = performance.now();
    const ready = await compact(messages, { conversationId: conversation, modelName: model });
    const tookMs = performance.now() - started;
    // The number of edits, for this example's provider, which checks the requests.
    const landed = journals.get(conversation).history.journal.count;
    const body = {
      model,
      max_tokens: 100,
      metadata: { conversation, turn, landed },
      messages: ready,
    };
    const answer = await fetch(PROVIDER, { method: 'POST', body: JSON.stringify(body) });
    const { message, error } = await answer.json();
    response.writeHead(answer.status).end(JSON.stringify({ message, error, tookMs, landed }));
  } catch (error) {
    response.writeHead(500).end(JSON.stringify({ error: String(error?.stack ?? error) }));
  }
});
server.listen(Number(PORT ?? 0), '127.0.0.1', () => process.send?.(server.address().port));
process.once('disconnect', () => process.exit());
process.once('SIGTERM', async () => {
  server.close();
  server.closeIdleConnections();
  await compactor.close();
  await close();
  process.exit();
});
