// Serves one request of a conversation and exits: reads the request's entries from stdin and writes what is sent to stdout.

import { text } from 'node:stream/consumers';
import { createCompactor } from 'ctxfold';
import { directoryStore } from 'ctxfold/state';

const { options, store, edits, turn, history } = JSON.parse(await text(process.stdin));
// A slow disk must not look like a failed store.
const patient = directoryStore(store, { deadlineMs: 60_000 });
const compactor = createCompactor({ ...options, store: patient, offload: 'inline' });
const session = await compactor.createSession({ sessionId: 'one', edits, history });
await session.ensureCompressionBeforeSend(`request ${turn}`, 0, 'test');
const sent = session.history.getRawHistory().map(({ speaker, blocks }) => ({ speaker, blocks }));
await compactor.close();
process.stdout.write(JSON.stringify(sent));
