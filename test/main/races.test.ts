// Everything that can happen to a session at once, in every order that a scheduler finds: no added entry is lost, duplicated or moved.

import { setImmediate as nextTurn } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InlineOffload } from '../../src/main/offload/inline.js';
import type { Offload } from '../../src/main/offload/offload.js';
import type { EntryChange } from '../../src/main/history-change.js';
import type { Session } from '../../src/main/session.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { findViolations } from '../../src/shared/validity.js';
import { openSession, strategyOf } from '../support/session-bench.js';
import { runs } from '../support/scale.js';

const ENOUGH = 'the turn was called off';

/** Events, in the order in which they are started. */
type Happening = 'say' | 'read' | 'write' | 'window' | 'window-aborted' | 'clear';

const happenings = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: fc.constant<Happening>('say') },
    { weight: 3, arbitrary: fc.constant<Happening>('read') },
    { weight: 3, arbitrary: fc.constant<Happening>('write') },
    { weight: 5, arbitrary: fc.constant<Happening>('window') },
    { weight: 2, arbitrary: fc.constant<Happening>('window-aborted') },
    { weight: 1, arbitrary: fc.constant<Happening>('clear') },
  ),
  { minLength: 3, maxLength: 24, size: 'max' },
);

/** Does the real work, and answers when the scheduler says so. */
class ScheduledOffload implements Offload {
  readonly #scheduler: fc.Scheduler;
  readonly #inline: InlineOffload = new InlineOffload();

  constructor(scheduler: fc.Scheduler) {
    this.#scheduler = scheduler;
  }

  optimize(...args: Parameters<Offload['optimize']>): ReturnType<Offload['optimize']> {
    return this.#scheduler.schedule(this.#inline.optimize(...args), 'plan');
  }

  countTokens(contents: readonly IContent[]): Promise<readonly number[]> {
    return this.#scheduler.schedule(Promise.resolve(contents.map(() => 10)), 'count');
  }
}

/** Records what the session is compared with. */
class Witness {
  /** Added since the last clear. */
  added: IContent[] = [];
  readonly gone = new Set<IContent>();
  readonly #replaced = new Map<IContent, IContent>();

  /** Watches every edit, so that removed entries can be distinguished from lost ones. */
  watch(session: Session): void {
    const hear = ({ changes }: { readonly changes: readonly EntryChange[] }): void => {
      for (const { before, after } of changes) {
        if (after === null) this.gone.add(this.originalOf(before));
        else this.#replaced.set(after, before);
      }
    };
    session.on('pruned', hear);
    session.on('fitted', hear);
  }

  /** The added entry that this one is left of. */
  originalOf(entry: IContent): IContent {
    const before = this.#replaced.get(entry);
    return before === undefined ? entry : this.originalOf(before);
  }
}

/** Runs scheduled work until a promise is settled. Work in another turn of the event loop may schedule more. */
async function settledBy(scheduler: fc.Scheduler, promise: Promise<unknown>): Promise<void> {
  const over = new AbortController();
  const settled = promise.finally(() => over.abort());
  while (!over.signal.aborted) {
    await scheduler.waitIdle();
    await nextTurn();
  }
  await settled;
}

async function play(scheduler: fc.Scheduler, script: readonly Happening[]): Promise<void> {
  const witness = new Witness();
  let dropped: readonly IContent[] = [];
  const session = openSession({
    contextLimit: 200,
    offload: new ScheduledOffload(scheduler),
    countEntries: (contents) =>
      scheduler.schedule(Promise.resolve(contents.map(() => 10)), 'count'),
    // Keeps messages of people and the newest tool use.
    strategy: strategyOf(({ history }) => {
      const newest = history.slice(-2);
      const kept = history.filter((entry) => entry.speaker === 'human' || newest.includes(entry));
      const valid = findViolations(kept).length === 0 ? kept : history;
      dropped = history.filter((entry) => !valid.includes(entry));
      return scheduler.schedule(Promise.resolve(valid), 'compress');
    }),
  });
  witness.watch(session);
  session.on('compressed', ({ outcome }) => {
    if (outcome === 'applied')
      for (const entry of dropped) witness.gone.add(witness.originalOf(entry));
  });

  const windows: Promise<unknown>[] = [];
  const add = (...entries: readonly IContent[]): void => {
    session.history.addAll(entries);
    witness.added.push(...entries);
  };
  const use = (id: string, tool: string): readonly IContent[] => [
    aiContent([toolCall(id, tool, { file_path: 'a.ts' })], { id: `call ${id}` }),
    toolContent([toolResponse(id, tool, 'done')], { id: `response ${id}` }),
  ];
  const happen = (happening: Happening, at: number): void => {
    switch (happening) {
      case 'say':
        add(humanText(`said ${at}`));
        break;
      case 'read':
        add(...use(`r${at}`, 'read_file'));
        break;
      case 'write':
        add(...use(`w${at}`, 'write_file'));
        break;
      case 'clear':
        session.history.clear();
        witness.added = [];
        break;
      case 'window':
        windows.push(session.ensureCompressionBeforeSend(`p${at}`));
        break;
      case 'window-aborted': {
        const controller = new AbortController();
        const window = session.ensureCompressionBeforeSend(`p${at}`, 0, 'test', controller);
        // Either it had ended before, or it rejects with the reason of the abort.
        windows.push(
          window.catch((reason: unknown) => {
            expect(reason).toBe(ENOUGH);
          }),
        );
        void scheduler.schedule(Promise.resolve(), 'abort').then(() => {
          controller.abort(ENOUGH);
        });
      }
    }
  };
  scheduler.scheduleSequence(
    script.map((happening, at) => ({
      label: happening,
      builder: () => {
        happen(happening, at);
        return Promise.resolve();
      },
    })),
  );
  await scheduler.waitIdle();
  await settledBy(scheduler, Promise.all(windows));
  await settledBy(scheduler, session.history.waitForTokenUpdates());

  const left = session.history.getAll();
  expect(left.map((entry) => witness.originalOf(entry))).toEqual(
    witness.added.filter((entry) => !witness.gone.has(entry)),
  );
  expect(findViolations(left)).toEqual([]);
  expect(session.history.getTotalTokens()).toBe(left.length * 10);
  expect(session.history.isCompressing).toBe(false);
}

describe('Session in any order of events', () => {
  it('loses, doubles and moves nothing', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), happenings, (scheduler, script) => play(scheduler, script)),
      { numRuns: runs(3_000), timeout: 60_000 },
    );
  });
});
