// What a scripted model does in a host: a chore of more than 60 tool calls in a workspace with sources that are wrong, done by
// the host's own tools, which really run. Files, outputs and words are as long as those that recorded agents had. It answers by
// what it is sent, so that text which is gone costs it another read.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IncomingRequest, ScriptedStep } from '../../examples/support/scripted-provider.js';
import { spreadSizes } from './recorded-sizes.js';
import type { RecordedSizes } from './recorded-sizes.js';

/** A call of one of a host's tools. */
export type HostToolCall = NonNullable<ScriptedStep['toolCalls']>[number];

/** How a host's tools are called. Files are relative to the workspace. */
export interface HostTools {
  readonly read: (file: string) => HostToolCall;
  readonly edit: (file: string, before: string, after: string) => HostToolCall;
  readonly run: (command: string) => HostToolCall;
}

/** What is done next: a call of a tool, calls in parallel, or a word to the user. */
type Deed =
  | { readonly kind: 'read'; readonly files: readonly string[] }
  | {
      readonly kind: 'edit';
      readonly file: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: 'run'; readonly command: string }
  | { readonly kind: 'say' };

/** How much is to be done. */
export interface Chore {
  readonly areas: number;
  /** What the user says at a start of the host, and after how many areas the model ends the turn. */
  readonly prompts: readonly (readonly [areas: number, prompt: string])[];
}

/**
 * Returns the chore of a session.
 *
 * @param isLong of 73 calls; else of 19, for what does not depend on a session's length
 * @param goesOn whether the host is started anew in the middle
 */
export function choreOf(isLong: boolean, goesOn: boolean): Chore {
  const [areas, before] = isLong ? [12, 6] : [3, 2];
  const all = 'Fix the limits of all areas; each has a page in docs and a check. Then check all.';
  if (!goesOn) return { areas, prompts: [[areas, all]] };
  const first = `Fix the limits of the first ${before} areas; each has a page in docs and a check.`;
  const rest = 'Go on with the others, then check all of them.';
  return {
    areas,
    prompts: [
      [before, first],
      [areas, rest],
    ],
  };
}

const nameOf = (area: number): string => `area-${String(area).padStart(2, '0')}`;
const sourceOf = (area: number): string => `src/${nameOf(area)}.mjs`;
const pageOf = (area: number): string => `docs/${nameOf(area)}.md`;
const lineOf = (area: number, limit: number): string => `export const LIMIT_${area} = ${limit};`;

/** Writes the workspace, with files and outputs of the sizes that were recorded. */
export function writeWorkspace(folder: string, chore: Chore, recorded: RecordedSizes): void {
  for (const part of ['src', 'docs']) mkdirSync(join(folder, part), { recursive: true });
  const pages = spreadSizes(recorded.read, chore.areas * 2);
  for (const [at, source] of sourcesOf(chore, recorded).entries()) {
    writeFileSync(join(folder, sourceOf(at + 1)), source);
    writeFileSync(join(folder, pageOf(at + 1)), pageText(at + 1, pages[at * 2] ?? 0));
  }
  const outputs = spreadSizes(recorded.run, chore.areas * OUTPUTS_OF_AREA + 1);
  writeFileSync(join(folder, 'check.mjs'), checkText(chore.areas, outputs));
}

/** What the workspace holds. */
export function workspaceDigest(folder: string, { areas }: Chore): string {
  const files = Array.from({ length: areas }, (_, at) => join(folder, sourceOf(at + 1)));
  return digestOf(files.map((file) => readFileSync(file, 'utf8')));
}

/** What it holds once all is done. */
export function finishedDigest(chore: Chore, recorded: RecordedSizes): string {
  const sources = sourcesOf(chore, recorded);
  return digestOf(
    sources.map((source, at) => source.replace(lineOf(at + 1, at + 1), fixedLine(at + 1))),
  );
}

/** The model's last word, when it was sent the last check's output. */
export function finalAnswer(digest: string): string {
  return `The last check says: CHECK PASSED ${digest.slice(0, 16)}`;
}

const fixedLine = (area: number): string => lineOf(area, area * 100);

function sourcesOf({ areas }: Chore, recorded: RecordedSizes): readonly string[] {
  const sizes = spreadSizes(recorded.read, areas * 2);
  return Array.from({ length: areas }, (_, at) => sourceText(at + 1, sizes[at * 2 + 1] ?? 0));
}

function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of sources) hash.update(source);
  return hash.digest('hex');
}

/** The model of one run. */
export class ChoreModel {
  readonly #tools: HostTools;
  readonly #isThinker: boolean;
  readonly #deeds: readonly Deed[];
  readonly #words: readonly number[];
  #next = 0;
  /** Tool calls that it has made. */
  calls = 0;
  /** Reads that it has made once more, for what it was about to edit was gone. */
  rereads = 0;

  constructor(tools: HostTools, isThinker: boolean, chore: Chore, recorded: RecordedSizes) {
    this.#deeds = allDeeds(chore);
    this.#words = spreadSizes(recorded.said, this.#deeds.length);
    this.#tools = tools;
    this.#isThinker = isThinker;
  }

  /** What it answers to a request that has tools. */
  answer({ body }: IncomingRequest): ScriptedStep {
    const deed = this.#deeds[this.#next] ?? { kind: 'say' };
    const seen = JSON.stringify(body);
    if (deed.kind === 'edit' && !seen.includes(deed.before)) {
      this.rereads += 1;
      return this.#step([this.#tools.read(deed.file)]);
    }
    this.#next += 1;
    switch (deed.kind) {
      case 'read':
        return this.#step(deed.files.map(this.#tools.read));
      case 'edit':
        return this.#step([this.#tools.edit(deed.file, deed.before, deed.after)]);
      case 'run':
        return this.#step([this.#tools.run(deed.command)]);
      case 'say':
        return {
          text: `The last check says: ${seen.match(/CHECK [A-Z]+ [\da-z]+/g)?.at(-1) ?? 'nothing'}`,
        };
    }
  }

  /** Where its turn begins, as models have to that think with a budget, and now and then. */
  #thinks(): boolean {
    const isFirst = this.#next === 1 || this.#deeds[this.#next - 2]?.kind === 'say';
    return this.#isThinker && (isFirst || this.#next % 7 === 0);
  }

  #step(toolCalls: readonly HostToolCall[]): ScriptedStep {
    const reasoning = `Step ${this.#next} comes next.`;
    this.calls += toolCalls.length;
    const text = `Call ${this.calls}. ${wordsOf(this.calls, this.#words[this.#next] ?? 0)}`;
    return { text, ...(this.#thinks() && { reasoning }), toolCalls };
  }
}

function allDeeds({ areas, prompts }: Chore): readonly Deed[] {
  const deeds: Deed[] = [];
  for (let area = 1; area <= areas; area += 1) {
    const check: Deed = { kind: 'run', command: `node check.mjs ${area}` };
    deeds.push(
      { kind: 'read', files: [pageOf(area), sourceOf(area)] },
      check,
      {
        kind: 'edit',
        file: sourceOf(area),
        before: lineOf(area, area),
        after: fixedLine(area),
      },
      check,
      { kind: 'run', command: `node check.mjs ${area} --entries` },
    );
    if (area < areas && prompts.some(([last]) => last === area)) deeds.push({ kind: 'say' });
  }
  return [...deeds, { kind: 'run', command: 'node check.mjs all' }, { kind: 'say' }];
}

/** Words that look like source, the same in each run. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed * 7919; ;) {
    state = (state * 1103515245 + 12345) % 2147483648;
    yield state;
  }
}

/** Characters of a line, about: what lacks less is long enough. */
const SHORT_LINE = 40;

/** Lines from `opening` on until there are so many characters. */
function fill(
  opening: readonly string[],
  length: number,
  seed: number,
  line: (at: number, next: () => number) => string,
): string {
  const random = numbers(seed);
  const lines = [...opening];
  let written = opening.join('\n').length;
  for (let at = 0; written + SHORT_LINE < length; at += 1) {
    const added = line(at, () => random.next().value);
    lines.push(added);
    written += added.length + 1;
  }
  return `${lines.join('\n')}\n`;
}

function sourceText(area: number, length: number): string {
  const opening = [`// Area ${area}.`, lineOf(area, area)];
  return fill(opening, length, area, (at, next) => {
    const taken = `export const step${at} = (given, rest = ${next() % 1009}) =>`;
    return `${taken} (given * ${next() % 31} + rest * ${next() % 17}) % ${(next() % 911) + 1};`;
  });
}

function pageText(area: number, length: number): string {
  const opening = [`# Area ${area}`, `Its limit is ${area * 100}.`];
  return fill(opening, length, area + 100, (at, next) => {
    const measured = `- Step ${at} was measured at ${next() % 1000} ms`;
    return `${measured} with ${next() % 100} of 100 parts, see entry ${next() % 77}.`;
  });
}

function wordsOf(call: number, length: number): string {
  return fill([], length, call + 1_000, (_, next) => {
    return `Entry ${next() % 997} goes with step ${next() % 61}, as page ${next() % 13} has it.`;
  }).trim();
}

/** A check that fails, the one that passes, and what is looked at after it. */
const OUTPUTS_OF_AREA = 3;

/** Checks one area, or all of them; the one line that counts comes last. */
const checkText = (
  count: number,
  lengths: readonly number[],
): string => `import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
const LENGTHS = ${JSON.stringify(lengths)};
const [which, looks] = process.argv.slice(2);
const areas = which === 'all' ? Array.from({ length: ${count} }, (_, at) => at + 1) : [Number(which)];
const hash = createHash('sha256');
const faults = [];
for (const area of areas) {
  const file = 'src/area-' + String(area).padStart(2, '0') + '.mjs';
  const source = readFileSync(file, 'utf8');
  hash.update(source);
  const limit = Number(/LIMIT_\\d+ = (\\d+);/.exec(source)?.[1]);
  if (limit !== area * 100) faults.push('AssertionError: LIMIT_' + area + ' of ' + file + ' is ' + limit + ', not what its page says');
}
const place = looks ? 2 : faults.length > 0 ? 0 : 1;
const length = which === 'all' ? LENGTHS.at(-1) : LENGTHS[areas[0] * ${OUTPUTS_OF_AREA} - ${OUTPUTS_OF_AREA} + place];
const lines = [];
for (let at = 0, written = 0; written + ${SHORT_LINE} < length; at += 1) {
  const took = (at * 37 * areas[0]) % 113;
  lines.push('  ' + (looks ? 'entry' : '✓') + ' step ' + at + ' of area ' + which + ' gives ' + ((took * 7919) % 1009) + ' for ' + took + ' (' + (took % 7) + ' ms)');
  written += lines.at(-1).length + 1;
}
lines.push(...faults);
if (!looks) lines.push('CHECK ' + (faults.length === 0 ? 'PASSED ' : 'FAILED ') + hash.digest('hex').slice(0, 16));
console.log(lines.join('\\n'));
process.exitCode = looks || faults.length === 0 ? 0 : 1;
`;
