// One life of a session in a chaos run: a script of additions and windows, played by a session on faulty threads and, unless
// edits depend on when a model answers, also by an inline session for comparison.

import { setImmediate as nextImmediate, setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { AbortOptions } from '../../src/main/preflight/request-options.js';
import type { Settings } from '../../src/main/settings/settings.js';
import type { Session } from '../../src/main/session.js';
import type { StateStore } from '../../src/main/state/state-store.js';
import type { IContent } from '../../src/shared/content.js';
import { CompressionExecutionError } from '../../src/shared/errors.js';
import type { Soundness } from './chaos-soundness.js';
import type { Watchdog } from './chaos-watchdog.js';

/** The script's parameters. */
export interface LifePlan {
  /** Its name in violations. */
  readonly name: string;
  /** Maximum number of passes. */
  readonly passes: number;
  /** Entries to add, in order. */
  readonly entries: readonly IContent[];
  /** Whether some windows are aborted: one in eight. */
  readonly hasAborts: boolean;
  /** Whether the history is sometimes cleared. */
  readonly hasClears: boolean;
  /** One window in this many, and the last one, is followed by a check of what another process would send. */
  readonly passesPerRestart: number;
  /** A store that never fails, if the state is saved. */
  readonly store: StateStore | undefined;
  /** Advances the clock. */
  readonly tick: () => void;
}

/** Records of a run about its lives. */
export interface LifeBook {
  readonly watchdog: Watchdog;
  readonly random: () => number;
  /** Records a window: its duration, and whether it was aborted. */
  readonly noteWindow: (waitMs: number, wasAborted: boolean) => void;
  /** Whether the life must end early. */
  readonly isOver: () => boolean;
}

const MAX_ENTRIES_PER_PASS = 8;
const LONGEST_WAIT_BEFORE_ABORT_MS = 20;

/** The sessions of a life. */
export interface Lives {
  readonly real: Session;
  /** The inline session. @default none, because edits depend on time */
  readonly oracle: Session | undefined;
  readonly soundness: Soundness;
}

/** Plays one life. Returns the number of passes. */
export async function playLife(
  { real, oracle, soundness }: Lives,
  plan: LifePlan,
  book: LifeBook,
): Promise<number> {
  const { random, watchdog } = book;
  const both = oracle === undefined ? [real] : [real, oracle];
  let next = 0;
  for (let pass = 0; pass < plan.passes; pass += 1) {
    if (book.isOver()) return pass;
    const name = `${plan.name} pass ${pass}`;
    const count = 1 + Math.floor(random() * MAX_ENTRIES_PER_PASS);
    const added = plan.entries.slice(next, next + count);
    if (added.length === 0) return pass;
    next += count;
    plan.tick();
    if (plan.hasClears && random() < 0.05) {
      for (const { history } of both) history.clear();
      soundness.clear();
    }
    for (const { history } of both) history.addAll(added);
    soundness.add(added);
    // Varies how much is posted or answered when the window opens.
    for (let turns = Math.floor(random() * 4); turns > 0; turns -= 1) await nextImmediate();
    if (random() < 0.2) await delay(random() * 10);
    // Invalidates a plan that is already made.
    if (random() < 0.3) for (const { settings } of both) togglePruning(settings);
    const isAborted = plan.hasAborts && random() < 0.125;
    const hasLanded = isAborted
      ? await playAborted(real, name, book)
      : await play(real, name, book);
    // Edits are atomic; an aborted window may already have landed one.
    if (hasLanded && oracle !== undefined)
      await watchdog.watch(`${name} inline`, prepared(oracle, name));
    if (!isAborted && oracle !== undefined) compare(real, oracle, name, watchdog);
    // The edit of an aborted window may not have been reported yet.
    if (isAborted) await soundness.whenTold();
    for (const fault of soundness.findFaults()) watchdog.report(`${name}: ${fault}`);
    if (!isAborted && (pass + 1) % plan.passesPerRestart === 0)
      for await (const fault of soundness.findFaultsOfNext(plan.store))
        watchdog.report(`${name}: ${fault}`);
  }
  for await (const fault of soundness.findFaultsOfNext(undefined))
    watchdog.report(`${plan.name} at its end: ${fault}`);
  return plan.passes;
}

/** Prepares a request. May fail when the summarizer fails, and then leaves the history as it is. */
async function prepared(session: Session, name: string, options?: AbortOptions): Promise<void> {
  try {
    await session.ensureCompressionBeforeSend(name, 0, 'chaos', options);
  } catch (thrown) {
    if (!(thrown instanceof CompressionExecutionError)) throw thrown;
  }
}

function togglePruning(settings: Settings): void {
  const key = 'compression.density.recencyPruning';
  settings.set(key, settings.get(key) !== true);
}

async function play(
  session: Session,
  name: string,
  { watchdog, noteWindow }: LifeBook,
): Promise<true> {
  const startedAt = performance.now();
  await watchdog.watch(name, prepared(session, name));
  noteWindow(performance.now() - startedAt, false);
  return true;
}

/** Aborts a window at a random moment. Resolves to whether an edit landed before. */
async function playAborted(
  session: Session,
  name: string,
  { watchdog, random, noteWindow }: LifeBook,
): Promise<boolean> {
  const controller = new AbortController();
  const reason = new Error('called off');
  const { revision } = session.history;
  const startedAt = performance.now();
  const { signal } = controller;
  const window = prepared(session, name, { signal });
  const outcome = watchdog.watch(name, window).then(
    () => undefined,
    (error: unknown) => error,
  );
  const share = random();
  if (share > 0.6) await delay(random() * LONGEST_WAIT_BEFORE_ABORT_MS);
  else if (share > 0.2) await nextImmediate();
  controller.abort(reason);
  const hasLanded = session.history.revision !== revision;
  const error = await outcome;
  if (error !== undefined && error !== reason) throw error;
  noteWindow(performance.now() - startedAt, true);
  if (error === undefined) return true;
  if (hasLanded !== (session.history.revision !== revision)) {
    watchdog.report(`${name}: an edit landed after the abort`);
  }
  return hasLanded;
}

function compare(real: Session, oracle: Session, name: string, watchdog: Watchdog): void {
  const [found, expected] = [real.history.getRawHistory(), oracle.history.getRawHistory()];
  if (found.length !== expected.length) {
    watchdog.report(`${name}: ${found.length} entries instead of ${expected.length}`);
    return;
  }
  // Compare by identity first: entries that no edit touched are the same objects in both histories.
  const at = found.findIndex(
    (entry, index) => entry !== expected[index] && !isDeepStrictEqual(entry, expected[index]),
  );
  if (at !== -1) watchdog.report(`${name}: entry ${at} differs`);
  const [tokens, expectedTokens] = [real.history.getTotalTokens(), oracle.history.getTotalTokens()];
  if (tokens !== expectedTokens) {
    watchdog.report(`${name}: ${tokens} tokens instead of ${expectedTokens}`);
  }
}
