// How long turns near the threshold wait when a model writes the summaries. The model takes 20 seconds of a simulated clock,
// which each turn advances, so the benchmark itself does not wait.

import { createCompactor } from '../src/index.js';
import type { Summarizer, SummarizerResponse } from '../src/index.js';
import { check } from './support/check.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { followingOf, historyOf } from './support/sessions.js';
import { median } from './support/timing.js';

const MODEL_SECONDS = 20;
const TURN_SECONDS = 4;
const ENTRIES_PER_TURN = 5;
const TURNS = 300;
const SESSIONS = 5;
const MAX_WAIT_MS = 5;

export async function measureAhead({ sizes }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const { waits, landings, thrownAway } = await playSessions(entries);
    const runs = waits.length;
    check(
      landings.length > 0 && thrownAway <= landings.length,
      'no summary landed, or too many were discarded',
    );
    const sorted = waits.toSorted((a, b) => a - b);
    const p99 = sorted[Math.ceil(runs * 0.99) - 1] ?? NaN;
    const figures = { 'wait, median': median(waits), 'wait, p99': p99, landing: median(landings) };
    for (const [name, value] of Object.entries(figures)) {
      measurements.push({ scope: 'ahead', name, entries, value, unit: 'ms', runs });
    }
    const name = `p99 of a wait from 70 % of the window on, in ms (${entries.toLocaleString('en')})`;
    goals.push({ name, value: p99, limit: MAX_WAIT_MS });
  }
  return { measurements, goals };
}

interface Waits {
  /** Milliseconds of each preflight, from the share at which a summary is requested. */
  readonly waits: readonly number[];
  /** Milliseconds of the preflights in which a summary landed. */
  readonly landings: readonly number[];
  readonly thrownAway: number;
}

async function playSessions(entries: number): Promise<Waits> {
  // Warm-up.
  await playTurns(entries);
  const played: Waits[] = [];
  for (let session = 0; session < SESSIONS; session += 1) played.push(await playTurns(entries));
  return {
    waits: played.flatMap(({ waits }) => waits),
    landings: played.flatMap(({ landings }) => landings),
    thrownAway: played.reduce((sum, { thrownAway }) => sum + thrownAway, 0),
  };
}

/** A model with a simulated clock. */
class SlowModel implements Summarizer {
  readonly contextLimit = 1_000_000;
  #seconds = 0;
  #open: { readonly at: number; readonly answer: () => void }[] = [];

  generate(): Promise<SummarizerResponse> {
    return new Promise((resolve) => {
      const text = '<state_snapshot>on we go</state_snapshot>';
      const answer = (): void => {
        resolve({ text, finishReason: 'stop' });
      };
      this.#open.push({ at: this.#seconds + MODEL_SECONDS, answer });
    });
  }

  pass(seconds: number): void {
    this.#seconds += seconds;
    const due = this.#open.filter(({ at }) => at <= this.#seconds);
    this.#open = this.#open.filter(({ at }) => at > this.#seconds);
    for (const { answer } of due) answer();
  }
}

async function playTurns(entries: number): Promise<Waits> {
  const model = new SlowModel();
  const history = historyOf(entries);
  const measured = createCompactor({ offload: 'inline', contextLimit: 1_000_000_000 });
  const { history: counted } = await measured.createSession({ history });
  await counted.waitForTokenUpdates();
  const contextLimit = Math.floor(counted.getTotalTokens() / 0.69);
  await measured.close();
  await using compactor = createCompactor({
    contextLimit,
    workspaceRoot: '/w',
    summarizer: model,
    // Benchmarks are compiled without the prompts.
    promptDirectory: 'src/main/prompts',
    settings: { 'compression.strategy': 'middle-out' },
  });
  const session = await compactor.createSession({ history });
  const following = followingOf(entries);
  const waits: number[] = [];
  const landings: number[] = [];
  for (let turn = 0; turn < TURNS; turn += 1) {
    const start = turn * ENTRIES_PER_TURN;
    session.history.addAll(following.slice(start, start + ENTRIES_PER_TURN));
    // The agent's model takes far longer than counting, so counts are always there by the next turn.
    await session.history.waitForTokenUpdates();
    const isNear = session.contextUsage().tokens >= 0.7 * contextLimit;
    const startedAt = performance.now();
    const { compressed } = await session.ensureCompressionBeforeSend(`turn-${turn}`);
    const waitMs = performance.now() - startedAt;
    if (isNear) waits.push(waitMs);
    if (compressed?.outcome === 'applied') landings.push(waitMs);
    model.pass(TURN_SECONDS);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  return { waits, landings, thrownAway: session.costs().summaries?.thrownAway ?? 0 };
}
