// An index from words to the blocks of a session, to find the blocks that show a line without searching all of them.

import type { ContentBlock } from '../../src/index.js';

/** The result for one line over the blocks checked so far. */
interface Finding {
  readonly holders: ContentBlock[];
  lookedAt: number;
}

/** A word with other characters on both sides, which is a whole word in every text that contains the line. */
const INNER_WORD = /(?<=\W)\w+(?=\W)/g;
const WORD = /\w+/g;

/** Finds the blocks that show a line. */
export class VisibleLines {
  readonly #blocks: ContentBlock[] = [];
  readonly #texts: string[] = [];
  readonly #known = new Set<ContentBlock>();
  /** By word, the ascending numbers of the blocks that contain it. */
  readonly #byWord = new Map<string, number[]>();
  readonly #findings = new Map<string, Finding>();

  /** Adds a block, once. */
  add(block: ContentBlock): void {
    if (this.#known.has(block)) return;
    this.#known.add(block);
    const text = shownText(block);
    const number = this.#blocks.push(block) - 1;
    this.#texts.push(text);
    for (const word of new Set(text.match(WORD))) {
      const numbers = this.#byWord.get(word);
      if (numbers === undefined) this.#byWord.set(word, [number]);
      else numbers.push(number);
    }
  }

  /** The blocks whose text contains the line, in insertion order. */
  holders(line: string): readonly ContentBlock[] {
    let finding = this.#findings.get(line);
    if (finding === undefined) {
      finding = { holders: [], lookedAt: 0 };
      this.#findings.set(line, finding);
    }
    if (finding.lookedAt === this.#blocks.length) return finding.holders;
    for (const number of this.#candidates(line, finding.lookedAt)) {
      const block = this.#blocks[number];
      if (block !== undefined && this.#texts[number]?.includes(line)) finding.holders.push(block);
    }
    finding.lookedAt = this.#blocks.length;
    return finding.holders;
  }

  *#candidates(line: string, from: number): Generator<number> {
    let rarest: readonly number[] | undefined;
    for (const word of line.match(INNER_WORD) ?? []) {
      const numbers = this.#byWord.get(word);
      if (numbers === undefined) return;
      if (rarest === undefined || numbers.length < rarest.length) rarest = numbers;
    }
    if (rarest === undefined) {
      for (let number = from; number < this.#blocks.length; number += 1) yield number;
    } else {
      for (const number of rarest) if (number >= from) yield number;
    }
  }
}

/**
 * What a model can read in a block: texts, and all strings in call parameters and results, with JSON strings also decoded. Not
 * reasoning, because agents send little of it again.
 */
export function shownText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'code':
      return block.code;
    case 'tool_call':
      return stringsOf(block.parameters).join('\n');
    case 'tool_response':
      return [...stringsOf(block.result), block.error ?? ''].join('\n');
    case 'thinking':
    case 'media':
    case 'opaque':
      return '';
  }
}

function stringsOf(payload: unknown): readonly string[] {
  const strings: string[] = [];
  const pending: unknown[] = [payload];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string') {
      strings.push(value);
      const encoded = tryParse(value);
      if (typeof encoded === 'object') pending.push(encoded);
    } else if (typeof value === 'object' && value !== null) {
      for (const inner of Object.values(value) as readonly unknown[]) pending.push(inner);
    }
  }
  return strings;
}

function tryParse(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
