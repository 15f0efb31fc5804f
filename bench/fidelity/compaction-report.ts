// What pruning saves when the provider compacts as well: plays each session twice, with and without pruning, against a simulated
// provider that compacts any context into a text of fixed length. Assumes warm caches; makes no requests.

import { createCompactor, estimateEntryTokens } from '../../src/index.js';
import type { EphemeralSettings, IContent, SessionOptions } from '../../src/index.js';
import { CACHE_READ_PRICES, CACHE_WRITE_PRICE } from './context-meter.js';
import { numberText } from './policy-table.js';
import type { TextTable } from './policy-table.js';
import type { RecordedSession } from './recorded-session.js';

/** Windows in tokens; smaller than those of real models, as these sessions are too. */
const WINDOWS = [16_000, 32_000, 64_000] as const;
/** Length of a compaction in tokens, and the price of an output token relative to an input token. */
const COMPACTED_TOKENS = 2_000;
const OUTPUT_PRICE = 5;

/** By name: what each way does before the provider's compaction. */
const WAYS = {
  'compaction alone': {
    settings: {
      'compression.density.readWritePruning': false,
      'compression.density.fileDedupe': false,
      'compression.density.workingSet': 'off',
      'compression.density.shrink': 'off',
    },
  },
  'pruned before': { settings: {} },
} as const satisfies Readonly<Record<string, { readonly settings: EphemeralSettings }>>;

interface Come {
  /** How often the provider compacted, and the tokens it read for that. */
  readonly compactions: number;
  readonly compactedTokens: number;
  readonly sentTokens: number;
  readonly readTokens: number;
}

const NOTHING: Come = { compactions: 0, compactedTokens: 0, sentTokens: 0, readTokens: 0 };

/** Returns the table, with pruning as percentages of compaction alone. */
export async function compactionTable(contexts: readonly RecordedSession[]): Promise<TextTable> {
  const rows: (readonly string[])[] = [];
  for (const window of WINDOWS) {
    const whole = contexts.filter(({ transcript }) => tokensOf(transcript.entries) > window);
    const [alone, pruned] = [
      await playAll(whole, window, WAYS['compaction alone'].settings),
      await playAll(whole, window, WAYS['pruned before'].settings),
    ];
    const percent = (part: number, all: number): string =>
      all === 0 ? '–' : ((100 * part) / all).toFixed(1);
    rows.push([
      numberText(window),
      numberText(whole.length),
      `${numberText(alone.compactions)} → ${numberText(pruned.compactions)}`,
      percent(pruned.compactedTokens, alone.compactedTokens),
      percent(pruned.sentTokens, alone.sentTokens),
      ...CACHE_READ_PRICES.map((read) => percent(costOf(pruned, read), costOf(alone, read))),
    ]);
  }
  return {
    title: "Pruning before a provider's compaction",
    subtitle: `${numberText(contexts.length)} contexts, those longer than the window played; compaction alone as 100, warm caches, ${numberText(COMPACTED_TOKENS)} tokens a compaction`,
    heads: [
      ...['window', 'contexts', 'compactions', 'given to them', 'sent'],
      ...CACHE_READ_PRICES.map((read) => `cost, reads at ${read}`),
    ],
    rows,
  };
}

/** A compaction reads its input from the cache and is priced as output. */
function costOf(
  { compactions, compactedTokens, sentTokens, readTokens }: Come,
  read: number,
): number {
  const requests = read * readTokens + CACHE_WRITE_PRICE * (sentTokens - readTokens);
  return requests + read * compactedTokens + OUTPUT_PRICE * COMPACTED_TOKENS * compactions;
}

async function playAll(
  contexts: readonly RecordedSession[],
  contextLimit: number,
  settings: EphemeralSettings,
): Promise<Come> {
  await using compactor = createCompactor({
    ...{ offload: 'inline', tokenizer: 'estimate', contextLimit },
    settings: { ...settings, 'compression.strategy': 'provider', 'compression.ahead': 1 },
  });
  let sum = NOTHING;
  for (const { transcript } of contexts) {
    let [compactions, compactedTokens] = [0, 0];
    const compactByProvider: SessionOptions['compactByProvider'] = ({ history, tailStart }) => {
      compactions += 1;
      compactedTokens += tokensOf(history.slice(0, tailStart));
      const item = { kind: 'compaction', data: {}, tokens: COMPACTED_TOKENS };
      return Promise.resolve({ length: tailStart, items: [item], keepsReasoning: true });
    };
    const { toolCatalog, inclusionSyntaxes } = transcript.preset;
    const { workspaceRoot = '/' } = transcript;
    const session = await compactor.createSession({
      density: { toolCatalog, inclusionSyntaxes, workspaceRoot },
      cacheTtlMs: Infinity,
      compactByProvider,
    });
    for (const [at, entry] of transcript.entries.entries()) {
      const isRequest = entry.speaker === 'ai' && transcript.entries[at - 1]?.speaker !== 'ai';
      if (isRequest) await session.ensureCompressionBeforeSend('p');
      session.history.add(entry);
    }
    const { sentTokens, cacheReadTokens } = session.costs();
    await session.close();
    sum = {
      compactions: sum.compactions + compactions,
      compactedTokens: sum.compactedTokens + compactedTokens,
      sentTokens: sum.sentTokens + sentTokens,
      readTokens: sum.readTokens + cacheReadTokens,
    };
  }
  return sum;
}

function tokensOf(entries: readonly IContent[]): number {
  return entries.reduce((sum, entry) => sum + estimateEntryTokens(entry), 0);
}
