// Compares token counters: on new texts after others of the same kind, and on the same texts again. Ours must count as the
// reference does.

import { readFileSync, readdirSync } from 'node:fs';
import { check } from './check.js';
import { HOSTILE_TEXTS } from './hostile-texts.js';
import type { Goal, Measurement, ScopeResult } from './measurement.js';
import { OURS, REFERENCE, tokenCounters } from './token-counters.js';
import type { MakeCounter } from './token-counters.js';

const RUNS = 5;
/** A counter with a longer run is not run again: others merge a long word in quadratic time. */
const SLOW_MS = 50;
/** Length of a hostile text, and of the text of its kind seen before, in UTF-16 units. */
const HOSTILE_LENGTH = 2_000;
const SEEN_LENGTH = 1_900;
const PART_LENGTH = 8_000;
/**
 * A counter that is too slow for this much of a hostile text is skipped: it would take minutes for the whole, as js-tiktoken does
 * for most.
 */
const PROBE_LENGTH = 400;
const PROBE_MS = 10;

const ROOT = new URL('../../../', import.meta.url);
const CHINESE = 'node_modules/typescript/lib/zh-cn/diagnosticMessages.generated.json';

/** Texts of a kind: some to see first, and some to count. */
interface Course {
  /** A text that shows who is too slow to take part. */
  readonly probe?: string;
  readonly seen: readonly string[];
  readonly texts: readonly string[];
}

/** The minimum time of each counter in milliseconds, by name. */
type Times = ReadonlyMap<string, number>;

export function raceCounters(entries: number): ScopeResult {
  const counters = tokenCounters();
  const measurements: Measurement[] = [];
  const goals: Goal[] = [];
  for (const [sort, course] of Object.entries(ordinaryCourses())) {
    const { first, again } = race(counters, course, sort);
    for (const [name, times] of [
      [`count ${sort}`, first],
      [`count ${sort} again`, again],
    ] as const) {
      for (const [counter, value] of times) {
        const row = { scope: 'counting', name: `${name}, ${counter}`, entries };
        measurements.push({ ...row, value, unit: 'ms', runs: RUNS });
      }
      goals.push({ name: `${name}, of the fastest other`, value: ratio(times), limit: 1 / 1.5 });
    }
  }
  const hostile = Object.entries(HOSTILE_TEXTS).map(([sort, make]) => {
    const course = { probe: make(PROBE_LENGTH), seen: [make(SEEN_LENGTH)], texts: [fresh(make)] };
    return ratio(race(counters, course, sort).first);
  });
  goals.push({
    ...{ name: `count ${hostile.length} hostile texts, of the fastest other, most` },
    ...{ value: Math.max(...hostile), limit: 1 },
  });
  return { measurements, goals };
}

/** The text after the part seen before. If a kind repeats itself, the same units form a longer word. */
function fresh(make: (length: number) => string): string {
  return make(SEEN_LENGTH + HOSTILE_LENGTH).slice(SEEN_LENGTH, SEEN_LENGTH + HOSTILE_LENGTH);
}

/** Runs all counters on the same texts, alternating, so that other load affects all of them. */
function race(
  counters: ReadonlyMap<string, MakeCounter>,
  { probe = '', seen, texts }: Course,
  sort: string,
): { readonly first: Times; readonly again: Times } {
  const first = new Map<string, number>();
  const again = new Map<string, number>();
  const counts = new Map<string, number>();
  for (let run = 0; run < RUNS; run += 1) {
    for (const [name, make] of counters) {
      const count = make();
      if ((first.get(name) ?? 0) > SLOW_MS || timeMs(() => count(probe)) > PROBE_MS) continue;
      const countAll = (): void => {
        counts.set(
          name,
          texts.reduce((sum, text) => sum + count(text), 0),
        );
      };
      for (const text of seen) count(text);
      first.set(name, Math.min(first.get(name) ?? Infinity, timeMs(countAll)));
      again.set(name, Math.min(again.get(name) ?? Infinity, timeMs(countAll)));
    }
  }
  check(counts.get(OURS) === counts.get(REFERENCE), `${sort} counts otherwise than by tiktoken`);
  return { first, again };
}

function timeMs(run: () => unknown): number {
  const startedAt = performance.now();
  run();
  return performance.now() - startedAt;
}

/** Our time relative to the fastest other counter. */
function ratio(times: Times): number {
  const others = [...times].filter(([name]) => name !== OURS).map(([, ms]) => ms);
  return (times.get(OURS) ?? NaN) / Math.min(...others);
}

/** Half of each kind's texts are seen before, the others counted. */
function ordinaryCourses(): Readonly<Record<string, Course>> {
  const messages = JSON.parse(readText(CHINESE)) as Readonly<Record<string, string>>;
  return {
    code: inHalves(readTexts('src/main/', '.ts')),
    prose: inHalves([...readTexts('docs/', '.md'), readText('ARCHITECTURE.md')]),
    JSON: inHalves(inParts(readText('package-lock.json'))),
    Chinese: inHalves(inParts(Object.values(messages).join('\n'))),
  };
}

function inHalves(texts: readonly string[]): Course {
  return {
    seen: texts.filter((_, at) => at % 2 === 0),
    texts: texts.filter((_, at) => at % 2 === 1),
  };
}

function inParts(text: string): readonly string[] {
  const count = Math.ceil(text.length / PART_LENGTH);
  return Array.from({ length: count }, (_, at) =>
    text.slice(at * PART_LENGTH, (at + 1) * PART_LENGTH),
  );
}

function readTexts(folder: string, end: string): readonly string[] {
  return readdirSync(new URL(folder, ROOT), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(end))
    .sort()
    .map((name) => readText(`${folder}${name}`));
}

function readText(file: string): string {
  return readFileSync(new URL(file, ROOT), 'utf8');
}
