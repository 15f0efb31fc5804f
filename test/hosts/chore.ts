// What a scripted model does in a host: a chore of more than 60 tool calls in a workspace with sources that are wrong, done by
// the host's own tools, which really run. It answers by what it is sent, so that text which is gone costs it another read.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import type { IncomingRequest, ScriptedStep } from '../../examples/support/scripted-provider.js';

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

const AREAS = 12;
/** After this many areas the model ends its turn, and the host is started anew. */
const AREAS_BEFORE_RESTART = 6;

/** What the user says: once, and after the restart. */
export const PROMPTS: readonly [string, string] = [
  'Fix the limits of the first six areas; each has a page in docs and a check.',
  'Go on with the others, then check all of them.',
];

/** Calls that the chore takes at least. */
export const LEAST_CALLS = 60;

const nameOf = (area: number): string => `area-${String(area).padStart(2, '0')}`;
const sourceOf = (area: number): string => `src/${nameOf(area)}.mjs`;
const pageOf = (area: number): string => `docs/${nameOf(area)}.md`;
const lineOf = (area: number, limit: number): string => `export const LIMIT_${area} = ${limit};`;

/** Writes the workspace. */
export function writeWorkspace(folder: string): void {
  for (const part of ['src', 'docs']) mkdirSync(join(folder, part), { recursive: true });
  for (let area = 1; area <= AREAS; area += 1) {
    writeFileSync(join(folder, sourceOf(area)), sourceText(area));
    writeFileSync(join(folder, pageOf(area)), pageText(area));
  }
  writeFileSync(join(folder, 'check.mjs'), CHECK);
}

/** What the workspace holds in the end. */
export function workspaceDigest(folder: string): string {
  const hash = createHash('sha256');
  for (let area = 1; area <= AREAS; area += 1)
    hash.update(readFileSync(join(folder, sourceOf(area))));
  return hash.digest('hex');
}

/** The model of one run. */
export class ChoreModel {
  readonly #tools: HostTools;
  readonly #isThinker: boolean;
  readonly #deeds: readonly Deed[] = allDeeds();
  #next = 0;
  /** Tool calls that it has made. */
  calls = 0;
  /** Reads that it has made once more, for what it was about to edit was gone. */
  rereads = 0;

  constructor(tools: HostTools, isThinker: boolean) {
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
    return { text: `Call ${this.calls}.`, ...(this.#thinks() && { reasoning }), toolCalls };
  }
}

function allDeeds(): readonly Deed[] {
  const deeds: Deed[] = [];
  for (let area = 1; area <= AREAS; area += 1) {
    const check: Deed = { kind: 'run', command: `node check.mjs ${area}` };
    deeds.push(
      { kind: 'read', files: [pageOf(area), sourceOf(area)] },
      check,
      {
        kind: 'edit',
        file: sourceOf(area),
        before: lineOf(area, area),
        after: lineOf(area, area * 100),
      },
      check,
      { kind: 'run', command: `grep -n "step" ${sourceOf(area)} | head -30` },
    );
    if (area === AREAS_BEFORE_RESTART) deeds.push({ kind: 'say' });
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

function sourceText(area: number): string {
  const random = numbers(area);
  const lines = [`// Area ${area}.`, lineOf(area, area), ''];
  for (let at = 0; at < 45; at += 1) {
    const [a, b, c] = [random.next().value, random.next().value, random.next().value];
    lines.push(
      `/** Takes ${a % 97} of what step ${at} left, and ${b % 89} of the rest. */`,
      `export function step${at}(given, rest = ${c % 1009}) {`,
      `  return (given * ${a % 31} + rest * ${b % 17}) % ${(c % 911) + 1};`,
      '}',
    );
  }
  return `${lines.join('\n')}\n`;
}

function pageText(area: number): string {
  const random = numbers(area + 100);
  const lines = [`# Area ${area}`, '', `Its limit is ${area * 100}.`, ''];
  for (let at = 0; at < 40; at += 1) {
    const [a, b] = [random.next().value, random.next().value];
    lines.push(
      `- Step ${at} was measured at ${a % 1000} ms with ${b % 100} of 100 parts, see entry ${a % 77}.`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** What a check prints of each step that it looks at. */
const LINES_OF_LOG = 240;

/** Checks one area, or all of them; the one line that counts comes last. */
const CHECK = `import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
const [which] = process.argv.slice(2);
const areas = which === 'all' ? Array.from({ length: ${AREAS} }, (_, at) => at + 1) : [Number(which)];
const hash = createHash('sha256');
let failures = 0;
for (const area of areas) {
  const file = 'src/area-' + String(area).padStart(2, '0') + '.mjs';
  const source = readFileSync(file, 'utf8');
  hash.update(source);
  const limit = Number(/LIMIT_\\d+ = (\\d+);/.exec(source)?.[1]);
  for (let at = 0; at < ${LINES_OF_LOG} / areas.length; at += 1) {
    const took = (at * 37 * area) % 113;
    console.log('  ✓ step ' + at + ' of area ' + area + ' gives ' + ((took * 7919) % 1009) + ' for ' + took + ' (' + (took % 7) + ' ms)');
  }
  if (limit === area * 100) continue;
  failures += 1;
  console.log('AssertionError: LIMIT_' + area + ' of ' + file + ' is ' + limit + ', not what its page says');
}
console.log('CHECK ' + (failures === 0 ? 'PASSED ' : 'FAILED ') + hash.digest('hex').slice(0, 16));
process.exitCode = failures === 0 ? 0 : 1;
`;
