// The package's own worker entry (compiled), which goes wrong as a chaos run's dial says: in tasks of
// the pool, and in calls on the lines that sessions open. Plain JavaScript, as all workers of tests.

import { getEnvironmentData } from 'node:worker_threads';
import { fatalDeeds, nested } from './faults.mjs';

/** Without a dial nothing goes wrong. */
const dial = getEnvironmentData('ctxfold chaos');

/** A delta with more entries than that is part of a history that moves in. */
const MANY_ENTRIES = 64;

/** What goes wrong with this call of a place: a fault's name, or nothing. */
function faultAt(name) {
  if (dial === undefined) return undefined;
  const { taken, places, faults } = dial;
  const place = places.indexOf(name);
  if (place === -1) return undefined;
  const fault = forcedAt(place) ?? nextAt(place);
  if (fault === undefined) return undefined;
  // Noted before it is done: afterwards nobody may be left to do so.
  Atomics.add(taken, place * faults.length + fault, 1);
  return faults[fault];
}

/** The fault that every call of the place takes. */
function forcedAt(place) {
  const forced = Atomics.load(dial.forced, 0) - 1;
  const { length } = dial.faults;
  if (forced < 0 || Math.floor(forced / length) !== place) return undefined;
  Atomics.add(dial.calls, place, 1);
  return forced % length;
}

/** The fault whose turn it is with this call of the place, if any. */
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

/** What ends or blocks the thread before anything is done. */
const deeds = {
  ...fatalDeeds,
  stackOverflow: () => overflow(0),
  strayRejection: () => void Promise.reject(new Error('nobody waits for this')),
  exitLater: () => void setImmediate(() => process.exit(7)),
};

const negative = Int32Array.of(-7);
const beyond = Int32Array.of(1_000_000_000, 0);

/** What any call answers in place of what it should. */
const nonsense = [
  () => undefined,
  () => 'a text',
  () => ({}),
  () => ({ ok: true, runMs: 0 }),
  () => ({ ok: true, value: null, runMs: 0 }),
  () => ({ ok: false, error: null, runMs: 0 }),
  (reply) => ({ ...reply, runMs: NaN }),
];

/** By property of a value, what is put in its place. */
const nonsenseIn = {
  tokens: [() => negative, () => [], (tokens) => tokens.map(() => -7)],
  blocks: [() => negative, () => []],
  base: [() => ({ revision: -1, length: 0 })],
  plan: [() => undefined, (plan) => ({ ...plan, drops: beyond })],
  pass: [() => undefined, (pass) => ({ ...pass, tokensAfter: beyond })],
  drops: [() => beyond],
  threadId: [() => 'one'],
};

/** Draws in turn, and every other time something that is nearly right. */
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

/** What a call answers by a fault that spoils its reply. */
const replies = {
  notCloneable: (reply) => ({ ...reply, value: () => 0 }),
  deep: (reply) => ({ ...reply, value: nested(5_000) }),
  garbage,
};

/** Stands for a session's port, as far as Comlink needs one. */
class FaultyPort {
  #port;
  /** By call that is under way, the fault that spoils its reply. */
  #spoiled = new Map();

  constructor(port) {
    this.#port = port;
  }

  addEventListener(type, listener) {
    this.#port.addEventListener(type, (event) => {
      if (event.data?.type !== 'APPLY') return listener(event);
      const { id, path, argumentList } = event.data;
      const fault = faultAt(placeOf(path, argumentList));
      if (fault === 'throw') return this.#throw(id, { isError: true, value: { message: 'no' } });
      if (fault === 'throwNull') return this.#throw(id, { isError: false, value: null });
      if (fault === 'never') return undefined;
      deeds[fault]?.();
      if (Object.hasOwn(replies, fault ?? '')) this.#spoiled.set(id, fault);
      return listener(event);
    });
  }

  removeEventListener() {}

  start() {
    this.#port.start();
  }

  /** Throws what the port throws, a reply that cannot be cloned for one; Comlink sends an error then. */
  postMessage(message, transfers) {
    const fault = this.#spoiled.get(message.id);
    this.#spoiled.delete(message.id);
    if (fault === undefined) return this.#port.postMessage(message, transfers);
    return this.#port.postMessage({ ...message, value: replies[fault](message.value) });
  }

  #throw(id, value) {
    this.#port.postMessage({ id, type: 'HANDLER', name: 'throw', value });
  }
}

function placeOf([name], [argument]) {
  if (name !== 'receive') return name;
  const steps = argument.value?.steps ?? [];
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
