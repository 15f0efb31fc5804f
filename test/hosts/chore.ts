// The chore of a scripted model in a host: more than 60 tool calls in a workspace with faulty sources, run by the host's
// real tools. Files, outputs and texts come from recorded agents. The model answers from what it is sent, so text that is
// missing costs it another read.

import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { asArray } from '../../src/shared/json.js';
import type { IncomingRequest, ScriptedStep } from '../../examples/support/scripted-provider.js';
import { spreadTexts } from './recorded-texts.js';
import type { RecordedTexts } from './recorded-texts.js';

/** A call of a host's tool. */
export type HostToolCall = NonNullable<ScriptedStep['toolCalls']>[number];

/** How to call a host's tools. Paths are relative to the workspace. */
export interface HostTools {
  readonly read: (file: string) => HostToolCall;
  readonly edit: (file: string, before: string, after: string) => HostToolCall;
  readonly run: (command: string) => HostToolCall;
}

/** The next action: tool calls, possibly parallel, or a message to the user. */
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

/** The size of a chore. */
export interface Chore {
  readonly areas: number;
  /** The user's prompt at each start of the host, and the number of areas after which the model ends the turn. */
  readonly prompts: readonly (readonly [areas: number, prompt: string])[];
}

/**
 * Returns the chore of a session.
 *
 * @param isLong 73 calls; otherwise 19, for what does not depend on the length of a session
 * @param goesOn whether the host is restarted half-way
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

/** Writes the workspace, with recorded files and outputs. */
export function writeWorkspace(folder: string, chore: Chore, recorded: RecordedTexts): void {
  for (const part of ['src', 'docs']) mkdirSync(join(folder, part), { recursive: true });
  const texts = spreadTexts(recorded.read, chore.areas * 2);
  for (const [at, source] of sourcesOf(chore, recorded).entries()) {
    writeFileSync(join(folder, sourceOf(at + 1)), source);
    const page = `# Area ${at + 1}\nIts limit is ${(at + 1) * 100}.\n${texts[at * 2] ?? ''}\n`;
    writeFileSync(join(folder, pageOf(at + 1)), page);
  }
  const outputs = spreadTexts(recorded.run, chore.areas * OUTPUTS_OF_AREA + 1);
  writeFileSync(join(folder, 'check.mjs'), checkText(chore.areas, outputs));
}

/** A digest of the workspace. */
export function workspaceDigest(folder: string, { areas }: Chore): string {
  const files = Array.from({ length: areas }, (_, at) => join(folder, sourceOf(at + 1)));
  return digestOf(files.map((file) => readFileSync(file, 'utf8')));
}

/** The digest of a finished workspace. */
export function finishedDigest(chore: Chore, recorded: RecordedTexts): string {
  const sources = sourcesOf(chore, recorded);
  return digestOf(
    sources.map((source, at) => source.replace(lineOf(at + 1, at + 1), fixedLine(at + 1))),
  );
}

/** The model's final answer, if it was sent the output of the last check. */
export function finalAnswer(digest: string): string {
  return `The last check says: CHECK PASSED ${digest.slice(0, 16)}`;
}

const fixedLine = (area: number): string => lineOf(area, area * 100);

function sourcesOf({ areas }: Chore, recorded: RecordedTexts): readonly string[] {
  const texts = spreadTexts(recorded.read, areas * 2);
  return Array.from(
    { length: areas },
    (_, at) => `// Area ${at + 1}.\n${lineOf(at + 1, at + 1)}\n${texts[at * 2 + 1] ?? ''}\n`,
  );
}

function digestOf(sources: readonly string[]): string {
  const hash = createHash('sha256');
  for (const source of sources) hash.update(source);
  return hash.digest('hex');
}

/** When a model thinks. `at times`: at the start of its turns, which a thinking budget requires, and occasionally. */
export type Thinking = 'always' | 'at times' | 'never';

/** Claude Code's message for an edit of a file that was last read before it summarized its history. */
const IS_UNREAD = 'File has not been read yet';

/** The model of one session. */
export class ChoreModel {
  readonly #tools: HostTools;
  readonly #thinking: Thinking;
  readonly #deeds: readonly Deed[];
  readonly #words: readonly string[];
  #next = 0;
  /** Tool calls made. */
  calls = 0;
  /** Reads repeated because the text to edit was gone. */
  rereads = 0;

  constructor(tools: HostTools, thinking: Thinking, chore: Chore, recorded: RecordedTexts) {
    this.#deeds = allDeeds(chore);
    this.#words = spreadTexts(recorded.said, this.#deeds.length);
    this.#tools = tools;
    this.#thinking = thinking;
  }

  /** Answers a request that has tools. */
  answer({ body }: IncomingRequest): ScriptedStep {
    const former = this.#deeds[this.#next - 1];
    const last = JSON.stringify(asArray(body['messages']).slice(-1));
    if (former?.kind === 'edit' && last.includes(IS_UNREAD)) this.#next -= 1;
    const deed = this.#deeds[this.#next] ?? { kind: 'say' };
    const seen = last.includes(IS_UNREAD) ? '' : JSON.stringify(body);
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

  #thinks(): boolean {
    if (this.#thinking !== 'at times') return this.#thinking === 'always';
    const isFirst = this.#next === 1 || this.#deeds[this.#next - 2]?.kind === 'say';
    return isFirst || this.#next % 7 === 0;
  }

  #step(toolCalls: readonly HostToolCall[]): ScriptedStep {
    const reasoning = `Step ${this.#next} comes next.`;
    this.calls += toolCalls.length;
    const text = `Call ${this.calls}. ${this.#words[this.#next] ?? ''}`.trim();
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

/** A failing check, a passing one, and the command after it. */
const OUTPUTS_OF_AREA = 3;

/** Checks one area or all; the significant line comes last. */
const checkText = (
  count: number,
  outputs: readonly string[],
): string => `import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
const OUTPUTS = ${JSON.stringify(outputs)};
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
const output = which === 'all' ? OUTPUTS.at(-1) : OUTPUTS[areas[0] * ${OUTPUTS_OF_AREA} - ${OUTPUTS_OF_AREA} + place];
const lines = [output, ...faults];
if (!looks) lines.push('CHECK ' + (faults.length === 0 ? 'PASSED ' : 'FAILED ') + hash.digest('hex').slice(0, 16));
console.log(lines.join('\\n'));
process.exitCode = looks || faults.length === 0 ? 0 : 1;
`;
