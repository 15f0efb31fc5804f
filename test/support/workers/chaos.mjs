// The compiled worker entry of the package, with faults injected by a chaos run's dial: in pool tasks, and in deltas on
// session lines. Plain JavaScript, like all test workers.

import { getEnvironmentData } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

/** Without a dial there are no faults. */
const dial = getEnvironmentData('ctxfold chaos');

/** A delta with more entries is part of a history that moves in. */
const MANY_ENTRIES = 64;

/** The fault for this call of a place, or nothing. */
function faultAt(name) {
  if (dial === undefined) return undefined;
  const { taken, places, faults } = dial;
  const place = places.indexOf(name);
  if (place === -1) return undefined;
  const fault = forcedAt(place) ?? nextAt(place);
  if (fault === undefined) return undefined;
  // Counted first, because some faults end the thread.
  Atomics.add(taken, place * faults.length + fault, 1);
  return faults[fault];
}

/** The fault forced on every call of the place. */
function forcedAt(place) {
  const forced = Atomics.load(dial.forced, 0) - 1;
  const { length } = dial.faults;
  if (forced < 0 || Math.floor(forced / length) !== place) return undefined;
  Atomics.add(dial.calls, place, 1);
  return forced % length;
}

/** The fault due for this call of the place, if any. */
function nextAt(place) {
  const { isOn, calls, tasks, turns, faults, periods, order } = dial;
  if (Atomics.load(isOn, 0) === 0) return undefined;
  const call = Atomics.add(calls, place, 1) + 1;
  if (call % periods[place] !== 0) return undefined;
  const turn = Atomics.add(turns, place < tasks ? 0 : 1, 1);
  return order[turn % faults.length];
}

function overflow(depth) {
  return overflow(depth + 1) + 1;
}

/** Faults that end or block the thread before any work. */
const deeds = {
  ...fatalDeeds,
  stackOverflow: () => overflow(0),
  strayRejection: () => void Promise.reject(new Error('nobody waits for this')),
  exitLater: () => void setImmediate(() => process.exit(7)),
};

const negative = Int32Array.of(-7);
const beyond = Int32Array.of(1_000_000_000, 0);

/** Nonsense replies to any call. */
const nonsense = [
  () => undefined,
  () => 'a text',
  () => ({}),
  () => ({ ok: true, runMs: 0 }),
  () => ({ ok: true, value: null, runMs: 0 }),
  () => ({ ok: false, error: null, runMs: 0 }),
  (reply) => ({ ...reply, runMs: NaN }),
];

/** Nonsense values by property name. */
const nonsenseIn = {
  tokens: [() => negative, () => [], (tokens) => tokens.map(() => -7)],
  blocks: [() => negative, () => []],
  base: [() => ({ revision: -1, length: 0 })],
  plan: [() => undefined, (plan) => ({ ...plan, drops: beyond })],
  compression: [() => undefined, (compression) => ({ ...compression, drops: beyond })],
  pass: [() => undefined, (pass) => ({ ...pass, tokensAfter: beyond })],
  drops: [() => beyond],
  threadId: [() => 'one'],
};

/** Alternates between nonsense and an almost correct reply. */
function garbage(reply) {
  if (reply?.ok !== true) return {};
  const draw = Atomics.add(dial.drawn, 0, 1);
  const near = Object.entries(nonsenseIn).flatMap(([name, ways]) =>
    Object.hasOwn(reply.value ?? {}, name) ? ways.map((spoil) => [name, spoil]) : [],
  );
  if (draw % 2 === 1 || near.length === 0) {
    return nonsense[(draw >> 1) % nonsense.length](reply);
  }
  const [name, spoil] = near[(draw >> 1) % near.length];
  return { ...reply, value: { ...reply.value, [name]: spoil(reply.value[name]) } };
}

/** The replies of faults that spoil them. */
const replies = {
  notCloneable: (reply) => ({ ...reply, value: () => 0 }),
  deep: (reply) => ({ ...reply, value: nested(5_000) }),
  garbage,
};

/** A session's port, as far as a resident history needs one. */
class FaultyPort {
  #port;
  /** By the number of a delta, the fault that spoils its answer. */
  #spoiled = new Map();

  constructor(port) {
    this.#port = port;
  }

  on(type, listener) {
    this.#port.on(type, (delta) => {
      const fault = faultAt(placeOf(delta));
      if (fault === 'throw') throw new Error('thrown by the worker');
      if (fault === 'throwNull') throw null;
      if (fault === 'never') return;
      deeds[fault]?.();
      if (Object.hasOwn(replies, fault ?? '')) this.#spoiled.set(delta.sequence, fault);
      listener(delta);
    });
  }

  postMessage(answer, transfers) {
    const { sequence, reply } = answer;
    const fault = this.#spoiled.get(sequence);
    this.#spoiled.delete(sequence);
    if (fault === undefined) this.#port.postMessage(answer, transfers);
    else this.#port.postMessage({ sequence, reply: replies[fault](reply) });
  }
}

function placeOf({ steps, compression }) {
  if (compression !== undefined) return 'compress';
  if (steps.length === 0) return 'plan';
  const entries = steps.reduce((sum, { contents }) => sum + (contents?.length ?? 0), 0);
  return entries > MANY_ENTRIES ? 'moveIn' : 'receive';
}

export default async function runChaotically(request, run) {
  const fault = faultAt(request.kind);
  if (fault === 'throw') throw new Error('thrown by the worker');
  if (fault === 'throwNull') throw null;
  if (fault === 'never') return new Promise(() => {});
  deeds[fault]?.();
  const isOpening = request.kind === 'open';
  const reply = await run(isOpening ? { ...request, port: new FaultyPort(request.port) } : request);
  return replies[fault]?.(reply) ?? reply;
}
