// Looks for leaks: plays thousands of sessions, turns, conversations, killed threads and compactors, and measures what remains.
// `node --expose-gc scripts/soak.js [--items n] [--only subject]`, after a build. Exits with code 1 when heap, handles,
// listeners, files or threads grow.

import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  aiContent,
  createCompactor,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../dist/index.js';
import { chatCompactor } from '../dist/openai.js';

const { values } = parseArgs({
  options: { items: { type: 'string', default: '10000' }, only: { type: 'string' } },
});
if (!/^[1-9]\d*$/.test(values.items)) {
  throw new RangeError(`Expected --items to be a positive integer, got ${values.items}.`);
}
if (globalThis.gc === undefined) throw new Error('Expected to be started with --expose-gc.');

/**
 * Bytes that may remain whatever is played: compiled code, pooled buffers, and tables of weak maps, which never shrink below the
 * most entries between two collections.
 */
const HEAP_NOISE = 3_000_000;
/** Bytes kept on purpose per item: the state of closed sessions (up to 32 MB), and the journal's record of a turn. */
const KEPT_BYTES = {
  'sessions opened and closed': 800,
  'conversations of adapters made anew': 800,
  'turns without end': 120,
};

const OPTIONS = { workspaceRoot: '/w', tokenizer: 'estimate', offload: 'resident', threads: 1 };

/** A history of reads with distinct results of 2 kB. */
function historyOf(entries, seed) {
  const history = [humanText(`go ${seed}`)];
  while (history.length < entries) {
    const id = `c${history.length}`;
    history.push(aiContent([toolCall(id, 'read_file', { file_path: `${seed}-${id}.ts` })]));
    history.push(
      toolContent([toolResponse(id, 'read_file', `${seed} ${id} `.padEnd(2_000, 'x y'))]),
    );
  }
  return history;
}

/** By subject: sets it up once, and returns how to play one item. */
const SUBJECTS = {
  'sessions opened and closed': async () => {
    const compactor = createCompactor(OPTIONS);
    // On a busy machine, hundreds of sessions close before their thread has started.
    const first = await compactor.createSession({ history: historyOf(20, 'first') });
    while (compactor.stats().openings === 0) await sleep(10);
    await first.close();
    return {
      play: async (at) => {
        const session = await compactor.createSession({ history: historyOf(20, at) });
        await session.ensureCompressionBeforeSend('p');
        await session.close();
      },
      end: () => compactor.close(),
    };
  },
  'histories that move in and out': async () => {
    const compactor = createCompactor({ ...OPTIONS, maxResidentSessions: 2 });
    const sessions = [];
    for (let at = 0; at < 6; at += 1) {
      sessions.push(await compactor.createSession({ history: historyOf(20, at) }));
    }
    return {
      play: async (at) => {
        const { history } = sessions[at % sessions.length];
        if (history.length > 30) history.clear();
        history.add(humanText(`on ${at}`));
        await sessions[at % sessions.length].ensureCompressionBeforeSend('p');
      },
      end: () => compactor.close(),
    };
  },
  'turns without end': async () => {
    const compactor = createCompactor({ ...OPTIONS, contextLimit: 20_000 });
    const session = await compactor.createSession({ edits: 'batched', minReclaimTokens: 1_000 });
    const { signal } = new AbortController();
    return {
      play: async (at) => {
        session.history.addAll(historyOf(3, at));
        await session.ensureCompressionBeforeSend(`p${at}`, 0, 'soak', { signal });
      },
      end: () => compactor.close(),
    };
  },
  'conversations of adapters made anew': async () => {
    const compactor = createCompactor(OPTIONS);
    let messages = [];
    return {
      play: async (at) => {
        if (messages.length > 12) messages = [];
        messages = [...messages, { role: 'user', content: `${at} `.padEnd(2_000, 'x y') }];
        const compact = chatCompactor(compactor, { onSession: () => at, maxConversations: 4 });
        await compact(messages, at % 2 === 0 ? {} : { conversationId: `chat ${at % 100}` });
        messages = [...messages, { role: 'assistant', content: 'done' }];
      },
      end: () => compactor.close(),
    };
  },
  'threads that die': async () => {
    const workers = new Set();
    // A pool waits longer each time before it restarts a thread that dies. Moving its clock ahead skips that.
    const now = performance.now.bind(performance);
    let aheadMs = 0;
    performance.now = () => now() + aheadMs;
    const note = (worker) => {
      workers.add(worker);
      worker.once('exit', () => workers.delete(worker));
    };
    process.on('worker', note);
    const compactor = createCompactor(OPTIONS);
    const session = await compactor.createSession({ history: historyOf(20, 0) });
    return {
      play: async (at) => {
        await Promise.all([...workers].map((worker) => worker.terminate()));
        aheadMs += 60_000;
        // Starts another thread, so that every measurement sees one.
        if (session.history.length > 100) session.history.clear();
        session.history.add(humanText(`on ${at}`));
        await session.ensureCompressionBeforeSend('p');
      },
      end: async () => {
        await compactor.close();
        process.off('worker', note);
        performance.now = now;
      },
    };
  },
  'compactors made and closed': async () => ({
    play: async (at) => {
      const compactor = createCompactor(OPTIONS);
      const session = await compactor.createSession({ history: historyOf(10, at) });
      await session.ensureCompressionBeforeSend('p');
      await compactor.close();
    },
    end: () => undefined,
  }),
};

/** Each item of these starts a thread, so short runs play fewer. */
const SLOW = new Set(['threads that die', 'compactors made and closed']);

async function measure() {
  for (let round = 0; round < 4; round += 1) {
    await sleep(20);
    globalThis.gc();
  }
  const count = (directory) => {
    try {
      return readdirSync(directory).length;
    } catch {
      return 0;
    }
  };
  return {
    heap: process.memoryUsage().heapUsed,
    handles: process.getActiveResourcesInfo().length,
    listeners: process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0),
    files: count('/proc/self/fd'),
    threads: count('/proc/self/task'),
  };
}

/** A thread stopped during its start no longer keeps the process alive, but its end is awaited here. */
const alive = setInterval(() => undefined, 60_000);
let hasGrown = false;
const items = Number(values.items);
for (const [subject, start] of Object.entries(SUBJECTS)) {
  if (values.only !== undefined && !subject.includes(values.only)) continue;
  const count = SLOW.has(subject) && items < 1_000 ? Math.ceil(items / 10) : items;
  const { play, end } = await start();
  let at = 0;
  for (; at < Math.max(10, count / 4); at += 1) await play(at);
  const before = await measure();
  for (const last = at + count; at < last; at += 1) await play(at);
  const grownIn = (after) =>
    Object.keys(before).filter((what) =>
      what === 'heap'
        ? after.heap - before.heap > HEAP_NOISE + (KEPT_BYTES[subject] ?? 0) * count
        : after[what] - before[what] > 3,
    );
  let after = await measure();
  // On a busy machine, stopped threads may not have exited yet.
  for (let tries = 0; tries < 50 && grownIn(after).length > 0; tries += 1) {
    await sleep(100);
    after = await measure();
  }
  await end();
  const grown = grownIn(after);
  hasGrown ||= grown.length > 0;
  console.log(JSON.stringify({ subject, count, before, after, grown }));
}
clearInterval(alive);
process.exitCode = hasGrown ? 1 : 0;
