// How long what recorded agents were told and said is: the chore's files, outputs and words are as long. Says nothing of their text.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { readTranscript } from '../../src/main/formats/read-transcript.js';
import type { ContentBlock } from '../../src/shared/content.js';

/** Characters of each of a session's results and words, by what they are of. */
export interface RecordedSizes {
  /** What reading a file gave. */
  readonly read: readonly number[];
  /** What a command printed. */
  readonly run: readonly number[];
  /** What the model said beside a call. */
  readonly said: readonly number[];
}

const READ = /^(read|open|view)/i;
const RUN = /bash|shell|exec|command|^ls$|^python$/i;
/** Shorter ones are of single subjects. */
const LEAST_RESULTS = 10;

/** Reads the recorded sessions of a folder, each kind's sizes in ascending order. */
export async function recordedSizes(folder: string): Promise<RecordedSizes> {
  const sizes = { read: [] as number[], run: [] as number[], said: [] as number[] };
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  for (const file of files.filter((each) => /\.(jsonl|json|traj)$/.test(each)).sort()) {
    const { entries } = await readTranscript(join(folder, file));
    const blocks = entries.flatMap(({ speaker, blocks: own }) =>
      own.map((block) => ({ speaker, block })),
    );
    if (blocks.filter(({ block }) => block.type === 'tool_response').length < LEAST_RESULTS)
      continue;
    for (const { speaker, block } of blocks) {
      const kind = speaker === 'ai' && block.type === 'text' ? 'said' : kindOfResult(block);
      if (kind !== undefined) sizes[kind].push(lengthOf(block));
    }
  }
  for (const each of Object.values(sizes)) each.sort((a, b) => a - b);
  return sizes;
}

/**
 * Returns `count` sizes that are spread as the given ones are, in an order that looks random and is the same each time.
 *
 * @param sorted in ascending order, at least one
 */
export function spreadSizes(sorted: readonly number[], count: number): readonly number[] {
  const drawn = Array.from(
    { length: count },
    (_, at) => sorted[Math.floor(((at + 0.5) / count) * sorted.length)] ?? 0,
  );
  // A step that has no divisor in common with the count visits each once.
  const step = [0.618, 0.7, 0.3]
    .map((part) => Math.max(1, Math.round(count * part)))
    .find((each) => divisor(each, count) === 1);
  return drawn.map((_, at) => drawn[(at * (step ?? 1)) % count] ?? 0);
}

function kindOfResult(block: ContentBlock): 'read' | 'run' | undefined {
  if (block.type !== 'tool_response') return undefined;
  if (READ.test(block.toolName)) return 'read';
  return RUN.test(block.toolName) ? 'run' : undefined;
}

function lengthOf(block: ContentBlock): number {
  if (block.type === 'text') return block.text.length;
  if (block.type !== 'tool_response') return 0;
  return typeof block.result === 'string'
    ? block.result.length
    : ((JSON.stringify(block.result) as string | undefined)?.length ?? 0);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
