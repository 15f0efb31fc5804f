// Processes that serve one conversation in turn, as behind a load balancer: together they ask the model as often as one process would.

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { CompressedEvent } from '../../../src/main/preflight/session-events.js';
import type { Session } from '../../../src/main/session.js';
import { memoryStore } from '../../../src/main/state/memory-store.js';
import type { StateStore } from '../../../src/main/state/state-store.js';
import type { SummarizerResponse } from '../../../src/main/summarizer/summarizer.js';
import type { IContent } from '../../../src/shared/content.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { historyOf } from '../../support/notation.js';
import { runs } from '../../support/scale.js';
import { scriptedSummarizer, snapshot } from '../../support/scripted-summarizer.js';
import type { ScriptedSummarizer } from '../../support/scripted-summarizer.js';
import { openCompactor } from '../../support/open-compactor.js';

const LIMIT = 20_000;

/** Some 700 tokens that no rule removes. */
function turn(at: number): IContent[] {
  return historyOf(`h:"turn ${at}" a:"${wordsOf(at)}" h:"thanks" a:"done ${at}"`);
}

function wordsOf(at: number): string {
  return Array.from({ length: 200 }, (_, word) => `word-${at}-${word}`).join(' ');
}

/** Lets background work continue as far as it can. */
async function settle(): Promise<void> {
  for (let at = 0; at < 20; at += 1) await nextTurn();
}

/** A store whose saves take longer than a turn of the event loop. */
function slow(store: StateStore): StateStore {
  return {
    load: (key) => store.load(key),
    save: async (...args) => {
      await nextTurn();
      await nextTurn();
      return store.save(...args);
    },
    delete: (key) => store.delete(key),
  };
}

interface Process {
  readonly session: Session;
  readonly compressed: CompressedEvent[];
  /** Adds the entries of others, and prepares a request. */
  readonly send: () => Promise<string>;
  /** The same with edits that need no model, in place of summaries. */
  readonly sendEdited: () => Promise<string>;
}

class Fleet {
  readonly history: IContent[] = [];
  /** Pending answers of the model. */
  readonly owed: ((text: string) => void)[] = [];
  readonly summarizer: ScriptedSummarizer = scriptedSummarizer(
    () =>
      new Promise<SummarizerResponse>((resolve) => {
        this.owed.push((text) => {
          resolve({ text: snapshot(text), finishReason: 'stop' });
        });
      }),
  );
  readonly #store: StateStore = slow(memoryStore());
  readonly #sessionId: string | undefined;
  #turns = 0;
  #touches = 0;

  /** @param sessionId without one, a conversation is found by its first entries */
  constructor(sessionId: string | undefined) {
    this.#sessionId = sessionId;
  }

  addTurns(count: number): void {
    for (let at = 0; at < count; at += 1) this.history.push(...turn((this.#turns += 1)));
  }

  /** Reads a file, and writes it the next time: then an edit removes what was read, perhaps long before. */
  touchFile(): void {
    const id = 1_000 + this.#touches;
    const isRead = (this.#touches += 1) % 2 === 1;
    const call = isRead ? `a:r${id}(x.ts) t:r${id}("${wordsOf(id)}")` : `a:w${id}(x.ts) t:w${id}`;
    this.history.push(...historyOf(`h:"touch" ${call} a:ok`));
  }

  async answer(text: string = 'on we go'): Promise<void> {
    this.owed.shift()?.(text);
    await settle();
  }

  async open(): Promise<Process> {
    const compactor = openCompactor({
      workspaceRoot: '/w',
      contextLimit: LIMIT,
      settings: { 'compression.strategy': 'middle-out' },
      summarizer: this.summarizer,
      store: this.#store,
    });
    const session = await compactor.createSession({
      sessionId: this.#sessionId,
      edits: 'every-turn',
      history: [...this.history],
    });
    let taken = this.history.length;
    const compressed: CompressedEvent[] = [];
    session.on('compressed', (event) => {
      if (event.outcome === 'applied') compressed.push(event);
    });
    const send = async (): Promise<string> => {
      session.history.addAll(this.history.slice(taken));
      taken = this.history.length;
      await session.ensureCompressionBeforeSend('p');
      const sent = session.history.getRawHistory();
      expect(validate([...sent, ...historyOf('h:on')], 'anthropic')).toEqual([]);
      const text = JSON.stringify(sent.map(({ blocks }) => blocks));
      const turns = text.match(/"(?:turn|done) \d+"/g) ?? [];
      expect(new Set(turns).size).toBe(turns.length);
      expect(sent.at(-1)?.blocks).toEqual(this.history.at(-1)?.blocks);
      await settle();
      return text;
    };
    const sendEdited = async (): Promise<string> => {
      session.settings.set('compression.strategy', 'high-density');
      const text = await send();
      session.settings.set('compression.strategy', 'middle-out');
      return text;
    };
    return { session, compressed, send, sendEdited };
  }
}

/** Sends; if that waits for the model, as over the limit, answers the pending requests. */
async function sendAnswered(fleet: Fleet, { send }: Process): Promise<string> {
  const sending = send();
  const isDone = sending.then(() => true);
  while (!(await Promise.race([isDone, settle().then(() => false)]))) await fleet.answer();
  return sending;
}

describe.each([
  ['with an id', 'one'],
  ['found by its first entries', undefined],
])('processes that share a conversation %s', (_, sessionId) => {
  /** Two processes: one has asked for a summary, and the other has served a turn since. */
  const afterAsking = async (): Promise<
    Readonly<Record<'one' | 'other', Process> & { fleet: Fleet }>
  > => {
    const fleet = new Fleet(sessionId);
    fleet.addTurns(20);
    const [one, other] = [await fleet.open(), await fleet.open()];
    await one.send();
    fleet.addTurns(1);
    await other.send();
    return { fleet, one, other };
  };

  it('land the summary of one process after others have served the conversation', async () => {
    const { fleet, one, other } = await afterAsking();
    fleet.addTurns(1);
    await one.send();
    expect(fleet.summarizer.requests).toHaveLength(1);
    fleet.addTurns(1);
    // It fits, and so does not wait: another process has asked.
    await other.send();
    expect(fleet.summarizer.requests).toHaveLength(1);
    await fleet.answer('the goal');
    const sent = await one.send();
    expect(sent).toContain('the goal');
    expect(sent).toContain('turn 23');
    expect(await other.send()).toBe(sent);
    expect(fleet.summarizer.requests).toHaveLength(1);
    for (const { session } of [one, other])
      expect(session.costs().summaries).toEqual({ landed: 1, thrownAway: 0 });
    expect(one.compressed).toMatchObject([{ isAhead: true }]);
    expect(other.compressed).toEqual([]);
  });

  it('land it behind edits that were made twice because another process was faster the first time', async () => {
    const fleet = new Fleet(sessionId);
    fleet.addTurns(8);
    fleet.touchFile();
    fleet.addTurns(8);
    const [one, other] = [await fleet.open(), await fleet.open()];
    await one.send();
    fleet.addTurns(1);
    await other.send();
    const edits = other.session.history.journal.count;
    fleet.touchFile();
    await one.sendEdited();
    expect(one.session.history.journal.count).toBeGreaterThan(edits);
    await fleet.answer('the goal');
    const sent = await one.send();
    expect(sent).toContain('the goal');
    expect(await other.send()).toBe(sent);
    expect(fleet.summarizer.requests).toHaveLength(1);
  });

  it('ask nothing for a history that another process has summarized in a turn', async () => {
    const fleet = new Fleet(sessionId);
    fleet.addTurns(10);
    const [one, other] = [await fleet.open(), await fleet.open()];
    await one.send();
    await other.send();
    fleet.addTurns(25);
    const sending = one.send();
    await settle();
    await fleet.answer('the goal');
    const sent = await sending;
    expect(sent).toContain('the goal');
    expect(await other.send()).toBe(sent);
    expect(fleet.summarizer.requests).toHaveLength(1);
  });

  it('ask for a new history although another process has asked for the former one', async () => {
    const { fleet, other } = await afterAsking();
    expect(fleet.summarizer.requests).toHaveLength(1);
    other.session.history.clear();
    fleet.addTurns(25);
    await sendAnswered(fleet, other);
    expect(fleet.summarizer.requests).toHaveLength(2);
  });

  it('throw a summary away, and report it, when another process has rewritten what it summarizes', async () => {
    const fleet = new Fleet(sessionId);
    fleet.addTurns(20);
    const [one, other] = [await fleet.open(), await fleet.open()];
    await one.send();
    fleet.addTurns(20);
    const sending = other.send();
    await settle();
    expect(fleet.owed).toHaveLength(2);
    fleet.owed.reverse();
    await fleet.answer('in a turn');
    const sent = await sending;
    await fleet.answer('too late');
    expect(await one.send()).toBe(sent);
    expect(sent).toContain('in a turn');
    for (const { session } of [one, other])
      expect(session.costs().summaries).toEqual({ landed: 1, thrownAway: 1 });
  });

  // If a clock was ahead and is set back, the other process's request seems to be in the future, and nobody would ask until then.
  it.each([
    ['has ended', 1],
    ['asked before its clock was set back', -1],
  ])('wait for no summary of a process that %s', async (_, sign) => {
    const fleet = new Fleet(sessionId);
    fleet.addTurns(20);
    const [one, other] = [await fleet.open(), await fleet.open()];
    await one.send();
    await fleet.answer();
    await one.send();
    fleet.addTurns(10);
    await one.send();
    await other.send();
    expect(fleet.summarizer.requests).toHaveLength(2);
    const now = Date.now();
    const clock = vi.spyOn(Date, 'now').mockImplementation(() => now + sign * 240_000);
    onTestFinished(() => clock.mockRestore());
    await other.send();
    expect(fleet.summarizer.requests).toHaveLength(2);
    clock.mockImplementation(() => now + sign * 360_000);
    await other.send();
    expect(fleet.summarizer.requests).toHaveLength(3);
  });

  it('ask at most twice per summary that lands, whoever serves which turn, and send what the last one sent', async () => {
    const act = fc.constantFrom('turn', 'turn', 'touch', 'edit', 'one', 'other', 'third', 'answer');
    let landed = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(act, { minLength: 20, maxLength: 40 }), async (acts) => {
        const fleet = new Fleet(sessionId);
        fleet.addTurns(16);
        const processes = [await fleet.open(), await fleet.open(), await fleet.open()];
        for (const name of acts) {
          if (name === 'turn') fleet.addTurns(1);
          else if (name === 'touch') fleet.touchFile();
          else if (name === 'edit') await processes[fleet.history.length % 3]!.sendEdited();
          else if (name === 'answer') await fleet.answer();
          else await sendAnswered(fleet, processes[['one', 'other', 'third'].indexOf(name)]!);
        }
        let sent: string | undefined;
        for (const process of processes) {
          while (fleet.owed.length > 0) await fleet.answer();
          const landedBefore = process.compressed.length;
          const text = await sendAnswered(fleet, process);
          if (process.compressed.length === landedBefore) expect(text).toBe(sent ?? text);
          sent = text;
        }
        const { summaries = { landed: 0, thrownAway: 0 } } = processes[2]!.session.costs();
        const asked = fleet.summarizer.requests.length - fleet.owed.length;
        expect(asked).toBeLessThanOrEqual(2 * summaries.landed + 1);
        landed += summaries.landed;
      }),
      { numRuns: runs(60, 4) },
    );
    expect(landed).toBeGreaterThan(0);
  });
});
