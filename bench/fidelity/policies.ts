// The compared policies: those of the density pass, those of APIs and frameworks, a crude working set, and one that knows the
// future. All keep calls and text.

import {
  AGGRESSIVE_WORKING_SET,
  applyDensityResult,
  DEFAULT_DENSITY_CONFIG,
  DEFAULT_WORKING_SET,
  isEmptyDensityResult,
} from '../../src/density.js';
import type { IContent } from '../../src/index.js';
import type {
  DensityConfig,
  DensityResult,
  ShrinkOption,
  WorkingSetRules,
} from '../../src/density.js';
import { neededUntil } from './clairvoyant.js';
import type { RecordedSession } from './recorded-session.js';
import { droppingResults } from './results-in-context.js';
import type { ResultInContext } from './results-in-context.js';
import { completeEditOptions } from '../../src/main/preflight/edit-options.js';
import { BatchPoints, EditGate } from '../../src/main/preflight/edit-policy.js';
import { FoundEdit } from '../../src/main/preflight/found-edit.js';
import { ReasoningTerms } from '../../src/main/models/session-model.js';
import { HistoryIndex } from '../../src/shared/density/index/history-index.js';
import { planIndexed, scopeOfPass, withTexts } from '../../src/shared/density/plan/optimize.js';
import { spendable, TokenTally } from '../../src/main/preflight/token-tally.js';
import { USUAL_PRICES, atPrices } from '../../src/shared/density/rules/rewrite-price.js';
import type { CachePrices } from '../../src/shared/density/rules/rewrite-price.js';
import { withColdCache } from '../../src/shared/density/rules/working-set-rules.js';
import { CACHE_LIFETIME_MS, ContextMeter, entryTokens } from './context-meter.js';
import { matchedBaseline } from './matched-baseline.js';
import { USED_KINDS } from './needs/need.js';
import type { NeedKind } from './needs/need.js';
import type { Policy, Sender } from './policy.js';

/** The policy that sends everything. */
export const KEEP_ALL: Policy = {
  name: 'everything kept',
  start: () => densitySender(() => undefined),
};

/** The policy that the agents' presets choose. */
export const OWN_POLICY = 'working set (default)';

/** With batched edits, the default of the adapters. */
export const BATCHED_POLICY = 'default, batched';

const DEFAULT: Policy = workingSet(OWN_POLICY, DEFAULT_WORKING_SET);
const AGGRESSIVE: Policy = workingSet('working set (aggressive)', AGGRESSIVE_WORKING_SET);
const BATCHED: Policy = batched(BATCHED_POLICY, DEFAULT_WORKING_SET);

/** Own policies, each with its naive baselines, which drop as many tokens. */
export const BASELINES: readonly {
  readonly own: Policy;
  readonly random: Policy;
  readonly oldest: Policy;
}[] = [
  {
    own: DEFAULT,
    random: matchedBaseline('random, as default', 'random', DEFAULT),
    oldest: matchedBaseline('oldest first, as default', 'oldest', DEFAULT),
  },
  {
    own: BATCHED,
    random: matchedBaseline('random, as batched', 'random', BATCHED),
    oldest: matchedBaseline('oldest first, as batched', 'oldest', BATCHED),
  },
  {
    own: AGGRESSIVE,
    random: matchedBaseline('random, as aggressive', 'random', AGGRESSIVE),
    oldest: matchedBaseline('oldest first, as aggressive', 'oldest', AGGRESSIVE),
  },
];

/** The compared policies, in the order of the tables. */
export const POLICIES: readonly Policy[] = [
  KEEP_ALL,
  densityPolicy('superseded by any write (specified)', {}),
  densityPolicy('superseded by a full write only', { partialWritesSupersede: false }),
  lastPerTool(3),
  lastPerTool(10),
  lastOfAll(3),
  lastOfAll(20),
  crudeWorkingSet(40),
  crudeWorkingSet(80),
  ...BASELINES.flatMap(({ own, random, oldest }) => [own, random, oldest]),
  ...[160, 40, 20].map((readCalls) =>
    batched(`reads ${readCalls} calls, batched`, { ...DEFAULT_WORKING_SET, readCalls }),
  ),
  workingSet('working set, no batches', { ...DEFAULT_WORKING_SET, paybackCalls: Infinity }),
  clairvoyant('clairvoyant bound', new Set<NeedKind>(['edit'])),
  clairvoyant('clairvoyant, all needs', USED_KINDS),
];

function densityPolicy(name: string, settings: Partial<DensityConfig>): Policy {
  return {
    name,
    start: ({ transcript }) => {
      // Takes the preset's knowledge but not its choices, which are what the policies vary.
      const { preset, workspaceRoot = '/' } = transcript;
      const { toolCatalog, inclusionSyntaxes } = preset;
      const config = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot, toolCatalog, inclusionSyntaxes };
      return densitySender(constant({ ...config, ...settings }));
    },
  };
}

/** Only shrinks results before they are sent. */
export function shrinking(name: string, shrink: ShrinkOption): Policy {
  const off = { readWritePruning: false, fileDedupe: false } as const;
  return {
    ...densityPolicy(name, { ...off, shrink, placeholder: 'recallable' }),
    role: 'own',
  };
}

/** The agent's preset with these rules. */
export function workingSet(name: string, rules: WorkingSetRules): Policy {
  return {
    name,
    role: 'own',
    start: (session) => densitySender(constant(configOf(session, rules))),
  };
}

/**
 * The same with batched edits, the default of sessions: findings are held until the edit is worth its cost in cache, or the cache
 * is cold.
 */
export function batched(
  name: string,
  rules: WorkingSetRules,
  shrink: ShrinkOption = 'default',
  prices: CachePrices = USUAL_PRICES,
): Policy {
  return {
    name,
    role: 'own',
    start: (session) => {
      const edits = completeEditOptions({ edits: 'batched' });
      const points = new BatchPoints();
      const sent = { intactEntries: 0, isCacheCold: true };
      let history: readonly IContent[] = [];
      const [tally, unedited] = [new TokenTally(), new TokenTally()];
      const meter = new ContextMeter();
      let addedTokens = 0;
      const gate = new EditGate(
        {
          config: { edits, model: { bindsReasoning: false } },
          reasoningTerms: new ReasoningTerms('keep'),
          sent,
          cache: { prices, price: undefined },
          history: { getRawHistory: () => history, countedTokens: () => undefined },
        },
        () => spendable(tally, tokensOf(history), unedited, addedTokens, prices),
      );
      let call = -1;
      let added = 0;
      const warm = { ...configOf(session, atPrices(rules, prices)), shrink };
      const cold = { ...configOf(session, withColdCache(rules)), shrink };
      const config = (): DensityConfig => (sent.isCacheCold ? cold : warm);
      const send = densitySender(config, (found, standing) => {
        history = standing;
        return gate.admit(found, { isForced: false, isBatchPoint: points.reaches(added) }).result;
      });
      return (entries) => {
        call += 1;
        added += entries.length;
        addedTokens += tokensOf(entries);
        sent.isCacheCold = call === 0 || (session.gapsMs[call] ?? 0) > CACHE_LIFETIME_MS;
        const context = send(entries);
        const { warmTokens } = meter.figures;
        meter.send(context);
        const isRead = !sent.isCacheCold;
        tally.add(meter.lastTokens, isRead, meter.figures.warmTokens - warmTokens);
        unedited.add(addedTokens, isRead, Infinity);
        sent.intactEntries = context.length;
        return context;
      };
    },
  };
}

function tokensOf(entries: readonly IContent[]): number {
  return entries.reduce((sum, entry) => sum + entryTokens(entry), 0);
}

function configOf({ transcript }: RecordedSession, rules: WorkingSetRules): DensityConfig {
  const { preset, workspaceRoot = '/' } = transcript;
  const chosen = { ...preset, partialWritesSupersede: false, workingSet: rules };
  return { ...DEFAULT_DENSITY_CONFIG, workspaceRoot, ...chosen };
}

function lastPerTool(recencyRetention: number): Policy {
  return densityPolicy(`last ${recencyRetention} results per tool`, {
    readWritePruning: false,
    fileDedupe: false,
    recencyPruning: true,
    recencyRetention,
  });
}

/**
 * Prunes the history before every call, for good. Indexes added entries once, and everything again after an edit.
 *
 * @param admit the part of an edit that may land now @default all of it
 */
function densitySender(
  configOfCall: () => DensityConfig | undefined,
  admit: (found: FoundEdit, history: readonly IContent[]) => DensityResult = ({ result }) => result,
): Sender {
  const history: IContent[] = [];
  let index: HistoryIndex | undefined;
  return (added) => {
    history.push(...added);
    const config = configOfCall();
    if (config === undefined) return history;
    if (index === undefined) index = indexOf(history, config);
    else for (const entry of added) index.append(entry);
    const { plan, texts } = withTexts(planIndexed(index, config), index);
    const found = new FoundEdit(plan, { history, settings: config, texts });
    const result = admit(found, history);
    if (isEmptyDensityResult(result)) return history;
    applyDensityResult(history, result);
    index = undefined;
    return history;
  };
}

function constant(config: DensityConfig): () => DensityConfig {
  return () => config;
}

function indexOf(history: readonly IContent[], config: DensityConfig): HistoryIndex {
  const index = new HistoryIndex(scopeOfPass(config));
  for (const entry of history) index.append(entry);
  return index;
}

function lastOfAll(count: number): Policy {
  return {
    name: `last ${count} results`,
    start: ({ transcript }) =>
      droppingResults(transcript, ({ results }) => results.slice(0, -count)),
  };
}

/** Results other than reads that stay in a crude working set. */
const OTHER_RESULTS = 5;

/** Keeps the newest results that are not reads, and the reads of recently touched files. */
function crudeWorkingSet(calls: number): Policy {
  return {
    name: `crude working set, ${calls} calls`,
    start: ({ transcript }) =>
      droppingResults(transcript, ({ results, call, touchedAt }) => {
        const isOld = ({ readPaths }: ResultInContext): boolean =>
          !readPaths.some((path) => call - (touchedAt.get(path) ?? -Infinity) <= calls);
        const others = results.filter(({ readPaths }) => readPaths.length === 0);
        const reads = results.filter(({ readPaths }) => readPaths.length > 0);
        return [...others.slice(0, -OTHER_RESULTS), ...reads.filter(isOld)];
      }),
  };
}

function clairvoyant(name: string, kinds: ReadonlySet<NeedKind>): Policy {
  return {
    name,
    role: 'bound',
    start: (session) => {
      const needed = neededUntil(session, kinds);
      return droppingResults(session.transcript, ({ results, context }) =>
        results.filter(({ block }) => (needed.get(block) ?? -1) < context.length),
      );
    },
  };
}
