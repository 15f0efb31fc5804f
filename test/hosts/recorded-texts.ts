// Texts of recorded agents, for the chore's files, outputs and messages.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';

import { readTranscript } from '../../src/main/formats/read-transcript.js';
import type { ContentBlock } from '../../src/shared/content.js';
import { payloadText } from '../../src/shared/tokens/content-text.js';

/** Distinct texts of recorded sessions by kind, sorted by length. */
export interface RecordedTexts {
  /** Contents of files, without line numbers. */
  readonly read: readonly string[];
  /** Outputs of commands. */
  readonly run: readonly string[];
  /** The model's text next to a call. */
  readonly said: readonly string[];
}

const READ = /^(read|open|view)/i;
const RUN = /bash|shell|exec|command|^ls$|^python$/i;
/** Recordings with fewer results cover single topics. */
const LEAST_RESULTS = 10;
/** The line number before a line of a file; hosts add their own. */
const LINE_NUMBER = /^ *\d+(?:→|\t|: ?)/gm;

/** Reads the recorded sessions of a folder. */
export async function recordedTexts(folder: string): Promise<RecordedTexts> {
  const texts = { read: new Set<string>(), run: new Set<string>(), said: new Set<string>() };
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
      if (kind !== undefined) texts[kind].add(textOf(block));
    }
  }
  return {
    read: byLength([...texts.read].map((text) => text.replace(LINE_NUMBER, ''))),
    run: byLength([...texts.run]),
    said: byLength([...texts.said]),
  };
}

/**
 * Returns `count` texts with the same distribution of lengths, in a deterministic order that looks random.
 *
 * @param sorted by length, at least one
 */
export function spreadTexts(sorted: readonly string[], count: number): readonly string[] {
  const drawn = Array.from(
    { length: count },
    (_, at) => sorted[Math.floor(((at + 0.5) / count) * sorted.length)] ?? '',
  );
  // A step that is coprime to the count visits each text once.
  const step = [0.618, 0.7, 0.3]
    .map((part) => Math.max(1, Math.round(count * part)))
    .find((each) => divisor(each, count) === 1);
  return drawn.map((_, at) => drawn[(at * (step ?? 1)) % count] ?? '');
}

function kindOfResult(block: ContentBlock): 'read' | 'run' | undefined {
  if (block.type !== 'tool_response') return undefined;
  if (READ.test(block.toolName)) return 'read';
  return RUN.test(block.toolName) ? 'run' : undefined;
}

function textOf(block: ContentBlock): string {
  if (block.type === 'text') return block.text;
  if (block.type !== 'tool_response') return '';
  return payloadText(block.result);
}

function byLength(texts: readonly string[]): readonly string[] {
  return texts.toSorted((a, b) => a.length - b.length);
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}
