// Passes each hostile value to every public function and every field of every options object. Unchecked, a value would end
// the process with an unhandled rejection, hang it in a cycle, or be silently taken for something else.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as root from 'ctxfold';
import * as density from 'ctxfold/density';
import * as removalLog from 'ctxfold/removal-log';
import * as settings from 'ctxfold/settings';
import * as strategies from 'ctxfold/strategies';
import * as transcripts from 'ctxfold/transcripts';
import * as turnLoop from 'ctxfold/turn-loop';
import * as validity from 'ctxfold/validate';
import { afterAll, describe, expect, it } from 'vitest';
import { fingerprint, outcomeOf } from '../support/hostile-outcome.js';
import { HOSTILE_VALUES, placesOf, withValueAt } from '../support/hostile-values.js';
import { firstOf, PLAYS_ALL } from '../support/scale.js';
import { busyMs } from '../support/busy-time.js';

/** All entries except those for an SDK. */
const ctxfold = {
  ...{ ...root, ...density, ...removalLog, ...settings },
  ...{ ...strategies, ...transcripts, ...turnLoop, ...validity },
};

/** A public function with fresh valid arguments, and what to do with the result. */
interface Row {
  readonly args: () => unknown[];
  readonly call: (...args: never[]) => unknown;
  /** Arguments that are modified on purpose. */
  readonly mutates?: readonly number[];
}

const directory = mkdtempSync(join(tmpdir(), 'ctxfold-hostile-'));
/** Some of the values are file names. */
const startedIn = process.cwd();
process.chdir(directory);
const compactor = ctxfold.createCompactor({ offload: 'inline', contextLimit: 10_000 });
const session = await compactor.createSession();
const EMPTY_LOG = join(directory, 'none.jsonl');

afterAll(async () => {
  await compactor.close();
  process.chdir(startedIn);
  rmSync(directory, { recursive: true, force: true });
});

const CALL = { type: 'tool_call', id: 'c1', name: 'read_file', parameters: { file_path: 'a.ts' } };
const RESPONSE = {
  type: 'tool_response',
  callId: 'c1',
  toolName: 'read_file',
  result: { text: 'a' },
};
const history = (): unknown[] => [
  { speaker: 'human', blocks: [{ type: 'text', text: 'Hello' }], metadata: { timestamp: 1 } },
  { speaker: 'ai', blocks: [structuredClone(CALL)] },
  { speaker: 'tool', blocks: [structuredClone(RESPONSE)] },
];
const densityOptions = (): Record<string, unknown> => ({
  workspaceRoot: '/w',
  toolCatalog: {
    read_file: [
      { access: 'read', extent: 'whole', pathKeys: ['file_path'], lineKeys: { first: 'a' } },
    ],
    run: [{ access: 'run', commandKeys: ['cmd'], when: { key: 'k', values: ['v'] } }],
  },
  inclusionSyntaxes: ['delimited'],
  partialWritesSupersede: true,
  workingSet: { ...ctxfold.DEFAULT_WORKING_SET },
});
const config = (): unknown => ({
  ...ctxfold.DEFAULT_DENSITY_CONFIG,
  ...densityOptions(),
  recencyPruning: true,
  placeholder: 'pointer',
});
const edit = (): unknown => ({
  removals: [0],
  replacements: new Map([[1, { speaker: 'human', blocks: [] }]]),
  metadata: { readWritePairsPruned: 0, fileDeduplicationsPruned: 0, recencyPruned: 0 },
});
const logger = (): unknown => ({ debug: ignore, warn: ignore, error: ignore });
const summarizer = (): unknown => ({ contextLimit: 1_000, timeoutMs: 50, generate: ignore });
const model = (): unknown => ({ specificationVersion: 'v3', modelId: 'm', doGenerate: ignore });
const ignore = (): undefined => undefined;
const none = (): unknown[] => [];

const byHistory = (
  call: (history: never, other: never) => unknown,
  ...others: (() => unknown)[]
): Row => ({
  args: () => [history(), ...others.map((make) => make())],
  call,
});

async function openSession(options: never): Promise<void> {
  const opened = await compactor.createSession(options);
  await opened.close();
}

async function runWith(options: object, change: object): Promise<void> {
  const own = ctxfold.createCompactor({ offload: 'inline', ...options });
  try {
    const opened = await own.createSession(change);
    for (let at = 0; at < 12; at += 1) opened.history.add(ctxfold.humanText('word '.repeat(200)));
    await opened.ensureCompressionBeforeSend('p').catch((error: unknown) => {
      // The session is too full, which is not the value's fault.
      if (!(error instanceof ctxfold.ContextWindowExceededError)) throw error;
    });
  } finally {
    await own.close();
  }
}

/** A host's callbacks and objects: each place is hostile once, and a window is opened with it. */
const LENT = { settings: { 'compression.strategy': 'one-shot' }, contextLimit: 2_000 } as const;

/** Ends an endless wait with a reason of this library's own. */
function soonAborted(): AbortSignal {
  const controller = new AbortController();
  const reason = new ctxfold.CtxfoldError('That took long enough.', 'CLOSED');
  setTimeout(() => {
    controller.abort(reason);
  }, 500).unref();
  return controller.signal;
}

const ROWS: Readonly<Record<string, readonly Row[]>> = {
  createCompactor: [
    {
      args: () => [
        {
          contextLimit: 100,
          overheadTokens: 1,
          workspaceRoot: '/w',
          offload: 'inline',
          maxResidentSessions: 1,
          threads: 1,
          settings: { 'compression.threshold': 0.5 },
          profile: {},
          summarizer: summarizer(),
          promptDirectory: '/p',
          tokenizer: { countTokens: () => 1 },
          logger: logger(),
        },
      ],
      call: (options) => ctxfold.createCompactor(options).close(),
    },
    {
      args: () => [
        {
          history: history(),
          density: densityOptions(),
          removalLogPath: undefined,
          activeTodos: () => [],
          overheadTokens: 0,
          edits: 'every-turn',
          minReclaimTokens: 1,
          cacheTtlMs: 1,
          reasoning: 'keep',
        },
      ],
      call: openSession,
    },
    {
      args: () => [{ countTokens: (): unknown => 1 }, logger()],
      call: (tokenizer, log) => runWith({ ...LENT, tokenizer, logger: log }, {}),
    },
    {
      args: () => [summarizer()],
      call: (lent) => runWith({ ...LENT, summarizer: (): unknown => lent }, {}),
    },
    {
      args: () => [
        [{ id: '1', content: 'x', status: 'pending', subtasks: [{ id: '2', content: 'y' }] }],
      ],
      call: (todos) =>
        runWith({ ...LENT, summarizer: summarizer() }, { activeTodos: (): unknown => todos }),
    },
    {
      args: () => [ignore],
      call: (lent) =>
        runWith(
          { ...LENT, summarizer: { contextLimit: 9_000, timeoutMs: 50, generate: lent } },
          {},
        ),
    },
  ],
  Session: [
    {
      args: () => [{ history: [], settings: {} }],
      call: (parts) => new ctxfold.Session(parts),
    },
    {
      args: () => ['p', 0, 'send', { signal: undefined }],
      call: (...args) => session.ensureCompressionBeforeSend(...(args as [never])),
    },
    {
      args: () => ['p', 0, { signal: undefined }],
      call: (...args) => session.enforceContextWindow(...(args as [never])),
    },
    {
      args: () => ['p', { signal: undefined }],
      call: (...args) => session.performCompression(...(args as [never])),
    },
    {
      args: () => ['p', { signal: undefined }],
      call: (...args) => session.buildCompressionContext(...(args as [never])),
    },
    {
      args: () => [{ signal: undefined }],
      call: (options) => session.ensureDensityOptimized(options),
    },
    { args: () => [0], call: (tokens) => session.shouldCompress(tokens) },
    {
      args: () => [{ inputTokens: 1, modelName: 'm', cacheReadTokens: 1, cacheMissReason: 'r' }],
      call: (report) => session.reportUsage(report),
    },
    { args: () => [0], call: (index) => session.explain(index) },
    { args: () => ['c1'], call: (callId) => session.restore(callId) },
    {
      args: () => ['compression.threshold', 0.5],
      call: (name, value) => {
        session.settings.set(name, value);
        session.settings.set(name, undefined as never);
      },
    },
    { args: () => ['compression.threshold'], call: (name) => session.settings.get(name) },
  ],
  HistoryService: [
    {
      args: () => [
        { countEntries: () => Promise.resolve([1]), limits: { maxDepth: 1 }, logger: logger() },
      ],
      call: (options) => new ctxfold.HistoryService(options),
    },
    {
      args: () => [history()[1], 'm'],
      call: (...args) => new ctxfold.HistoryService().add(...(args as [never])),
    },
    {
      args: () => [history(), 'm', 0],
      call: (...args) => new ctxfold.HistoryService().addAll(...(args as [never])),
    },
    {
      args: () => [(): unknown => [1]],
      call: async (count: () => never) => {
        const own = new ctxfold.HistoryService({ countEntries: () => count() });
        own.add(ctxfold.humanText('x'));
        await Promise.race([
          own.waitForTokenUpdates(),
          new Promise((resolve) => setImmediate(resolve)),
        ]);
      },
    },
    {
      args: () => ['m'],
      call: (name) => {
        session.history.nameModel(name);
      },
    },
    {
      args: () => [history()[0], 5],
      call: (...args) => {
        new ctxfold.HistoryService().weigh(...(args as [never, never]));
      },
    },
    byHistory((entries) => new ctxfold.HistoryService().countEach(entries)),
    byHistory((entries) => new ctxfold.HistoryService().estimateTokensForContents(entries)),
    {
      args: () => [edit(), { revision: 0, length: 3 }],
      call: (...args) => {
        const own = new ctxfold.HistoryService();
        own.addAll(history() as never);
        return own.applyDensityResult(...(args as [never]));
      },
    },
    {
      args: () => [history(), { revision: 0, length: 0 }],
      call: (...args) => new ctxfold.HistoryService().replaceAll(...(args as [never, never])),
    },
  ],
  TurnLoop: [
    {
      args: () => [
        {
          session,
          model: { stream: ignore, name: 'm' },
          tools: { t: ignore },
          maxModelCalls: 1,
          modelTimeoutMs: 50,
          toolTimeoutMs: 50,
          pendingTokens: 0,
        },
      ],
      call: (options) => new ctxfold.TurnLoop(options),
    },
  ],
  fromLanguageModel: [
    {
      args: () => [
        model(),
        { contextLimit: 9, maxRetries: 0, attemptTimeoutMs: 9, timeoutMs: 9, retryDelayMs: 0 },
      ],
      call: (...args) => ctxfold.fromLanguageModel(...(args as [never, never])),
    },
  ],
  PromptResolver: [
    { args: () => [{ directory }], call: (options) => new ctxfold.PromptResolver(options) },
    {
      args: () => ['compression'],
      call: (name) => new ctxfold.PromptResolver({ directory }).resolve(name),
    },
  ],
  getCompressionPrompt: [{ args: none, call: () => ctxfold.getCompressionPrompt() }],
  getCompressionStrategy: [
    { args: () => ['one-shot'], call: (name) => ctxfold.getCompressionStrategy(name) },
  ],
  parseCompressionStrategyName: [
    { args: () => ['one-shot'], call: (name) => ctxfold.parseCompressionStrategyName(name) },
  ],
  parseEphemeralSettings: [
    {
      args: () => [{ 'compression.threshold': 0.5, 'compression.strategy': 'one-shot' }],
      call: (settings) => ctxfold.parseEphemeralSettings(settings),
    },
  ],
  loadProfile: [{ args: () => [EMPTY_LOG], call: (path) => ctxfold.loadProfile(path) }],
  saveProfile: [
    {
      args: () => [join(directory, 'no', 'profile.json'), { 'compression.threshold': 0.5 }],
      call: (...args) => ctxfold.saveProfile(...(args as [never, never])),
    },
  ],
  agentPreset: [{ args: () => ['cline'], call: (format) => ctxfold.agentPreset(format) }],
  readTranscript: [
    {
      // Waits for the next chunk until the signal aborts.
      args: () => [EMPTY_LOG, { format: 'cline', signal: soonAborted() }],
      // The signal aborts.
      mutates: [1],
      call: (...args) => ctxfold.readTranscript(...(args as [never])),
    },
  ],
  optimize: [byHistory((entries, how) => ctxfold.optimize(entries, how), config)],
  explainDensity: [
    byHistory((entries, how) => ctxfold.explainDensity(entries, how).explain(0), config),
    {
      args: () => [0],
      call: (index) =>
        ctxfold
          .explainDensity([], { ...ctxfold.DEFAULT_DENSITY_CONFIG, workspaceRoot: '/' })
          .explain(index),
    },
  ],
  listRuleEdits: [
    {
      args: () => [Int32Array.of(0, 0, 1, 0, -1, -1)],
      call: (rows) => ctxfold.listRuleEdits(rows, ignore),
    },
  ],
  applyDensityResult: [
    {
      ...byHistory((entries, result) => {
        ctxfold.applyDensityResult(entries, result);
      }, edit),
      mutates: [0],
    },
  ],
  validateDensityResult: [
    {
      args: () => [edit(), 3],
      call: (...args) => {
        ctxfold.validateDensityResult(...(args as [never, never]));
      },
    },
  ],
  isEmptyDensityResult: [
    { args: () => [edit()], call: (result) => ctxfold.isEmptyDensityResult(result) },
  ],
  mapIndex: [
    { args: () => [edit(), 1], call: (...args) => ctxfold.mapIndex(...(args as [never, never])) },
  ],
  findViolations: [byHistory((entries, base) => ctxfold.findViolations(entries, base), history)],
  validate: [
    {
      args: () => [history(), 'anthropic', {}],
      call: (...args) => ctxfold.validate(...(args as [never, never])),
    },
  ],
  estimateEntryTokens: [
    { args: () => [history()[2]], call: (entry) => ctxfold.estimateEntryTokens(entry) },
  ],
  extendToolCatalog: [
    {
      args: () => [densityOptions()['toolCatalog'], densityOptions()['toolCatalog']],
      call: (...args) => ctxfold.extendToolCatalog(...(args as [never, never])),
    },
  ],
  readsFile: [
    {
      args: () => ['whole', ['path'], { first: 'a' }],
      call: (...args) => ctxfold.readsFile(...(args as [never])),
    },
  ],
  writesFile: [
    {
      args: () => ['whole', ['path']],
      call: (...args) => ctxfold.writesFile(...(args as [never])),
    },
  ],
  patchedPaths: [{ args: () => ['*** Add File: a'], call: (patch) => ctxfold.patchedPaths(patch) }],
  modelPrice: [{ args: () => ['claude-opus-4-5'], call: (id) => ctxfold.modelPrice(id) }],
  inputCost: [
    {
      args: () => [{ name: 'm', input: 3, cacheRead: 0.3, cacheWrite: 3.75 }, 1_000, 100],
      call: (...args) => ctxfold.inputCost(...(args as [never, never, never])),
    },
  ],
  runsCommands: [{ args: () => [['cmd']], call: (keys) => ctxfold.runsCommands(keys) }],
  searches: [{ args: none, call: () => ctxfold.searches() }],
  HighDensityStrategy: [
    byHistory((entries, how) => new ctxfold.HighDensityStrategy().optimize(entries, how), config),
  ],
};

/** Exports without a row, and why. */
const WITHOUT_ROW: Readonly<Record<string, string>> = Object.fromEntries([
  ...[
    'CompressionExecutionError',
    'CtxfoldError',
    // Names from the specification for exports whose row has another name.
    'CompressionStrategyError',
    'TurnOrchestrator',
    'ContextWindowExceededError',
    'PromptError',
    'SummarizerError',
    'SummaryRejectedError',
    'UnknownStrategyError',
    'WorkerPoolError',
  ].map((name) => [name, 'is thrown to users, and made by nobody else']),
  ...['MiddleOutStrategy', 'OneShotStrategy', 'TopDownTruncationStrategy'].map((name) => [
    name,
    'is called with contexts that sessions make; what these are made of is played by the rows of createCompactor',
  ]),
  ...['aiContent', 'humanText', 'toolCall', 'toolContent', 'toolResponse'].map((name) => [
    name,
    'writes a literal; what is in it is checked where it goes in',
  ]),
  ...['listRemoved', 'readRemovals', 'removalLogPathIn', 'restore'].map((name) => [
    name,
    'reads the log of removals, and is attacked with it',
  ]),
  ['streamTranscript', 'reads recorded sessions, and is attacked with the readers'],
  ...[
    'hasSubstance',
    'isBlank',
    'isCodeBlock',
    'isMediaBlock',
    'isOpaqueBlock',
    'isTextBlock',
    'isThinkingBlock',
    'isToolCallBlock',
    'isToolResponseBlock',
  ].map((name) => [name, 'asks a block of a history, which was checked when it came in']),
]);

/** Spreads the combinations of this run over values and places. */
const STEP = PLAYS_ALL ? 5 : 37;

describe('the public functions', () => {
  it('all have a row here', () => {
    const functions = Object.entries(ctxfold).filter(([, value]) => typeof value === 'function');
    const rows = [...Object.keys(ROWS), ...Object.keys(WITHOUT_ROW)];
    expect(rows.sort()).toEqual(functions.map(([name]) => name).sort());
  });

  let played = 0;
  let turn = firstOf(STEP);
  it.each(Object.entries(ROWS))(
    '%s accepts each hostile value or refuses it by type, and does not modify it',

    async (name, rows) => {
      const defects: string[] = [];
      for (const [at, { args, call, mutates = [] }] of rows.entries()) {
        expect(await outcomeOf(() => call(...(args() as never[]))), `${name} ${at}`).not.toMatch(
          /TypeError/,
        );
        for (const path of placesOf(args()).filter(({ length }) => length > 0)) {
          for (const value of HOSTILE_VALUES) {
            turn += 1;
            if (turn % STEP !== 0) continue;
            played += 1;
            const given = withValueAt(args(), path, value.make()) as unknown[];
            const watched = given.filter((_, index) => !mutates.includes(index));
            const before = fingerprint(watched);
            const started = process.cpuUsage();
            const outcome = await outcomeOf(() => call(...(given as never[])));
            const took = busyMs(started);
            const where = `${name} ${at}, ${value.name} at ${path.join('.')}`;
            if (outcome.startsWith('defect')) defects.push(`${where}: ${outcome}`);
            if (fingerprint(watched) !== before)
              defects.push(`${where}: changed the caller's value`);
            if (took > 5_000) defects.push(`${where}: took ${Math.round(took)} ms`);
          }
        }
      }
      expect(defects).toEqual([]);
    },
  );

  it('were played at least 1,500 times', () => {
    expect(played).toBeGreaterThanOrEqual(1_500);
  });
});
