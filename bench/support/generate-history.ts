// Synthetic sessions of any length for benchmarks and tests, deterministic for a seed. About 1.9 kB per entry, mostly tool
// results, as in real ones.

import type { ContentBlock, IContent } from '../../src/shared/content.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import { seededRandom } from './seeded-random.js';

export interface GenerateHistoryOptions {
  /** Number of entries; the last may be a pending call. */
  readonly entries: number;
  /** @default 1 */
  readonly seed?: number;
}

/**
 * Makes a session of human turns and tool loops that read, run and write. As in recorded Claude Code sessions with edits, some 20
 * % of the calls are reads that a later write supersedes. Every twentieth turn includes a file with `@`. Values are as parsed
 * from JSON: flat strings, nothing shared.
 */
export function generateHistory({ entries, seed = 1 }: GenerateHistoryOptions): IContent[] {
  const session = new Session(seed);
  const history: IContent[] = [];
  while (history.length < entries) history.push(...session.nextTurn());
  return JSON.parse(JSON.stringify(history.slice(0, entries))) as IContent[];
}

const TURNS_PER_INCLUSION = 20;
/** Files that may be written; half of the reads are of these. */
const WRITTEN_FILES = 40;
const FILES = 400;
const RESULT_CHARACTERS = { least: 200, most: 8_000 } as const;
const SAID_CHARACTERS = { least: 80, most: 900 } as const;
const INCLUDED_CHARACTERS = { least: 800, most: 4_000 } as const;

const WORDS =
  'entry history token index call result path file block window session turn plan edit revision base worker port task reply limit count text cut range order kept newest stale'.split(
    ' ',
  );

/** Makes turn after turn from one stream of random numbers. */
class Session {
  readonly #random: () => number;
  #turns = 0;
  #calls = 0;

  constructor(seed: number) {
    this.#random = seededRandom(seed);
  }

  nextTurn(): IContent[] {
    this.#turns += 1;
    const steps = Array.from({ length: 2 + this.#below(4) }, () => this.#step());
    return [this.#question(), ...steps.flat(), aiContent(this.#prose(SAID_CHARACTERS))];
  }

  #question(): IContent {
    const asked = this.#prose(SAID_CHARACTERS);
    if (this.#turns % TURNS_PER_INCLUSION !== 0) return humanText(asked);
    const content = this.#code(INCLUDED_CHARACTERS);
    const path = pathOf(this.#below(WRITTEN_FILES));
    return humanText(`${asked} @${path}\n--- ${path} ---\n${content}\n--- End of content ---\n`);
  }

  /** An ai entry with one to three calls, and the tool entry that answers them. */
  #step(): IContent[] {
    const uses = Array.from({ length: 1 + this.#below(3) }, () => this.#toolUse());
    const said: ContentBlock[] = [{ type: 'text', text: this.#prose(SAID_CHARACTERS) }];
    return [
      aiContent([
        ...said,
        ...uses.map(({ id, name, parameters }) => toolCall(id, name, parameters)),
      ]),
      toolContent(uses.map(({ id, name, result }) => toolResponse(id, name, result))),
    ];
  }

  #toolUse(): { id: string; name: string; parameters: unknown; result: string } {
    this.#calls += 1;
    const id = `call_${String(this.#calls).padStart(8, '0')}`;
    const share = this.#random();
    if (share < 0.45) {
      const file = this.#below(2) === 0 ? this.#below(WRITTEN_FILES) : this.#below(FILES);
      const parameters = { file_path: pathOf(file) };
      return { id, name: 'read_file', parameters, result: this.#code(RESULT_CHARACTERS) };
    }
    if (share < 0.6) {
      const path = pathOf(this.#below(WRITTEN_FILES));
      const parameters = { file_path: path, content: this.#code(SAID_CHARACTERS) };
      return { id, name: 'write_file', parameters, result: `Wrote ${parameters.file_path}.` };
    }
    const parameters = { command: `npm test -- ${this.#word()}-${String(this.#below(1_000))}` };
    return { id, name: 'run_shell_command', parameters, result: this.#code(RESULT_CHARACTERS) };
  }

  #prose(size: { readonly least: number; readonly most: number }): string {
    const words: string[] = [];
    for (let left = this.#size(size); left > 0; left -= 6) words.push(this.#word());
    return `${words.join(' ')}.`;
  }

  #code(size: { readonly least: number; readonly most: number }): string {
    const lines: string[] = [];
    for (let left = this.#size(size); left > 0; left -= lines.at(-1)?.length ?? left) {
      const [name, from, key] = [this.#word(), this.#word(), this.#word()];
      const number = String(this.#below(1_000_000));
      lines.push(`  const ${name}${number} = ${from}.${key}(${number}, '${this.#word()}');`);
    }
    return lines.join('\n');
  }

  /** Log-uniform: each doubling is equally likely. */
  #size({ least, most }: { readonly least: number; readonly most: number }): number {
    return Math.round(least * (most / least) ** this.#random());
  }

  #word(): string {
    return WORDS[this.#below(WORDS.length)] ?? '';
  }

  #below(limit: number): number {
    return Math.floor(this.#random() * limit);
  }
}

function pathOf(file: number): string {
  return `src/${WORDS[file % WORDS.length] ?? ''}-${String(file)}.ts`;
}
