// A whole high-density compression that has to truncate, on a history with token counts.

import { findViolations } from '../src/validate.js';
import { HighDensityStrategy } from '../src/strategies.js';
import { HistoryService } from '../src/index.js';
import type { CompressionContext } from '../src/strategies.js';
import type { IContent } from '../src/index.js';
import { SILENT_LOGGER } from '../src/main/host/logger.js';
import { createAgentRuntimeContext } from '../src/main/settings/session-config.js';
import { Settings } from '../src/main/settings/settings.js';
import { compressionTarget } from '../src/main/strategies/strategy.js';
import { check } from './support/check.js';
import type { Goal, Measurement, ScopeContext, ScopeResult } from './support/measurement.js';
import { historyOf, runsFor } from './support/sessions.js';
import { median } from './support/timing.js';

/** Share of all tokens. Summaries alone leave about a quarter. */
const CONTEXT_SHARE = 0.2;

export async function measureCompress({ sizes, cloneMs }: ScopeContext): Promise<ScopeResult> {
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const entries of sizes) {
    const history = historyOf(entries);
    const context = await openContext(history);
    const runs = runsFor(entries, 20);
    const times: number[] = [];
    for (let run = 0; run < runs; run += 1) {
      const startedAt = performance.now();
      const { newHistory } = await new HighDensityStrategy().compress(context);
      times.push(performance.now() - startedAt);
      if (run === 0) await checkCompressed(context, newHistory);
    }
    const value = median(times);
    const name = 'compress, with truncation';
    measurements.push({ scope: 'compress', name, entries, value, unit: 'ms', runs });
    if (entries >= 10_000) {
      const of = `of one clone (${entries.toLocaleString('en')})`;
      goals.push({ name: `${name}, ${of}`, value: value / cloneMs(entries), limit: 0.5 });
    }
  }
  return { measurements, goals };
}

/** Summaries are estimated here; a session counts them in a worker. */
async function openContext(entries: readonly IContent[]): Promise<CompressionContext> {
  const history = new HistoryService();
  history.addAll(entries);
  await history.waitForTokenUpdates();
  const contextLimit = Math.floor(history.getTotalTokens() * CONTEXT_SHARE);
  return {
    history: history.getCurated(),
    runtimeContext: createAgentRuntimeContext(
      new Settings({ 'compression.preserveThreshold': 0.05 }),
      contextLimit,
    ),
    estimateTokens: (contents) => history.estimateTokensForContents(contents),
    countEach: (contents) => history.countEach(contents),
    currentTokenCount: history.getTotalTokens(),
    logger: SILENT_LOGGER,
    promptId: 'bench',
  };
}

async function checkCompressed(
  context: CompressionContext,
  newHistory: readonly IContent[],
): Promise<void> {
  const { history, runtimeContext } = context;
  const target = compressionTarget(runtimeContext.ephemerals);
  check(findViolations(newHistory, history).length === 0, 'the compressed history is not valid');
  check((await context.estimateTokens(newHistory)) <= target, 'the target was not reached');
  check(newHistory.at(-1) === history.at(-1), 'the last entry differs');
  const humans = history.filter(({ speaker }) => speaker === 'human').length;
  const left = newHistory.filter(({ speaker }) => speaker === 'human').length;
  check(left === humans || newHistory.length < history.length / 2, 'human entries left too early');
  check(newHistory.length < history.length, 'nothing was truncated');
}
