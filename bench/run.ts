// Measures what ctxfold costs the thread of the turn loop, checks every result, and compares the figures with goals: `npm run
// bench -- [--all] [--scope name] [--size n,n] [--json]`.

import { parseArgs } from 'node:util';
import { measureAdapters } from './adapters.js';
import { measureAhead } from './ahead.js';
import { measureApply } from './apply.js';
import { measureColdStart } from './cold-start.js';
import { measureCompress } from './compress.js';
import { measureCounting } from './counting.js';
import { measureDensity } from './density.js';
import { measureGateway } from './gateway.js';
import { measureMemory } from './memory.js';
import { measureOpening } from './opening.js';
import { measurePeers } from './peers.js';
import { measureResidentMemory } from './resident-memory.js';
import { measurePolicies } from './policies.js';
import { measureResidentSessions } from './resident-sessions.js';
import { measureResidentThreshold } from './resident-threshold.js';
import { measureResident } from './resident.js';
import { measureState } from './state.js';
import type { ScopeContext, ScopeResult } from './support/measurement.js';
import { renderPeers } from './support/peer-report.js';
import { describeMachine, renderReport } from './support/report.js';
import { historyOf, runsFor } from './support/sessions.js';
import { medianMs } from './support/timing.js';
import { measureTransfer } from './transfer.js';
import { measureWindow } from './window.js';
import { measureWorkingSet } from './working-set.js';

const SCOPES: Readonly<
  Record<string, (context: ScopeContext) => ScopeResult | Promise<ScopeResult>>
> = {
  density: measureDensity,
  'working-set': measureWorkingSet,
  apply: measureApply,
  adapters: measureAdapters,
  compress: measureCompress,
  transfer: measureTransfer,
  counting: measureCounting,
  window: measureWindow,
  ahead: measureAhead,
  memory: measureMemory,
  opening: measureOpening,
  resident: measureResident,
  'resident-memory': measureResidentMemory,
  'resident-sessions': measureResidentSessions,
  policies: measurePolicies,
  threshold: measureResidentThreshold,
  state: measureState,
  'cold-start': measureColdStart,
  gateway: measureGateway,
  peers: measurePeers,
};

/** The most important scopes; `--all` runs every one. */
const FIRST_SCOPES = ['density', 'apply', 'window', 'resident', 'adapters'];
const FIRST_SIZES = '1000,10000';
const ALL_SIZES = '1000,10000,100000';

const { values } = parseArgs({
  options: {
    scope: { type: 'string', multiple: true },
    size: { type: 'string' },
    all: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

const scopes = values.scope ?? (values.all ? Object.keys(SCOPES) : FIRST_SCOPES);
const unknown = scopes.filter((scope) => !Object.hasOwn(SCOPES, scope));
if (unknown.length > 0) {
  throw new RangeError(
    `Expected --scope to be one of ${Object.keys(SCOPES).join(', ')}, got ${unknown.join(', ')}.`,
  );
}
const sizesText = values.size ?? (values.all ? ALL_SIZES : FIRST_SIZES);
const sizes = sizesText.split(',').map(Number);
if (!sizes.every((size) => Number.isInteger(size) && size >= 2)) {
  throw new RangeError(`Expected --size to be a list of integers of at least 2, got ${sizesText}.`);
}
sizes.sort((a, b) => a - b);

const cloneMs: Record<string, number> = {};
for (const size of sizes) {
  const history = historyOf(size);
  const runs = runsFor(size, 20);
  cloneMs[size] = medianMs({ runs, prepare: () => history }, (input) => structuredClone(input));
}

const results: ScopeResult[] = [];
for (const scope of scopes) {
  if (!values.json) console.error(`measuring ${scope} …`);
  const measure = SCOPES[scope];
  const context = { sizes, cloneMs: (entries: number): number => cloneMs[entries] ?? NaN };
  if (measure !== undefined) results.push(await measure(context));
}

const goals = results.flatMap((result) => result.goals);
const peers = results.flatMap((result) => result.peers ?? []);
const report = {
  machine: describeMachine(),
  node: process.versions.node,
  sizes,
  cloneMs,
  measurements: results.flatMap((result) => result.measurements),
  goals: goals.map((goal) => ({ ...goal, isMet: goal.value <= goal.limit })),
  peers,
};
console.log(values.json ? JSON.stringify(report, null, 2) : renderReport(report));
if (!values.json && peers.length > 0) console.log(`\n${renderPeers(peers, sizes)}`);
