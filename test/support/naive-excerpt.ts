// A second implementation of what is left of a result, written from the words of its rules. Shares no code with
// src/shared/density/, and is not meant to be fast.

import { PRUNED_POINTER } from '../../src/shared/density.js';

/** The pointer, and below it the names and failures of a result. */
export function naiveExcerpt(result: unknown): string {
  const text = typeof result === 'string' ? result : JSON.stringify(result);
  const room = Math.min(400, text.length / 10);
  const isOneLine = /^[{[]/.test(text) && !text.includes('\n');
  const lines = (isOneLine ? text.slice(0, 65_536).replace(/,(?=["{])/g, ',\n') : text)
    .slice(0, 65_536)
    .replaceAll('\\n', '\n')
    .split('\n')
    .map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line))
    .filter((line) => line.length <= 1_000);
  const words = lines
    .flatMap((line) => line.split(/[^A-Za-z0-9_$@.~/+-]/))
    .filter((word) => word !== '' && word.length <= 120);
  const paths = words.map(withoutEnds).filter(isPath);
  const kept: string[] = [];
  const room1 = takeInto(kept, unique(paths), room / 2);
  const shown = kept.join(' ');
  const names = words
    .flatMap((word) => word.split(/[/@~+]/))
    .map(trimmed)
    .filter(isTelling);
  const weight = (name: string): number =>
    names.filter((other) => other === name).length / Math.sqrt(name.length);
  const others = unique(names)
    .map((name, at) => ({ name, at, weight: weight(name) }))
    .sort((a, b) => b.weight - a.weight || a.at - b.at)
    .map(({ name }) => name)
    .filter((name) => !shown.includes(name));
  takeInto(kept, others, room - Math.max(0, room1));
  if (kept.length === 0) return PRUNED_POINTER;
  const failures = lines
    .filter((line) =>
      /\berror:|\berror\[\w+\]:|\bFAIL\b|\bFAILED\b|\b\w*(Error|Exception)\b|\bpanicked at|\bnot ok\b/.test(
        line,
      ),
    )
    .slice(0, 2)
    .map((line) =>
      line
        .slice(0, 400)
        .replace(/[\p{Cc}\u2028\u2029]+/gu, ' ')
        .trim(),
    )
    .map((line) =>
      line.length <= 120 ? line : `${line.slice(0, 119).replace(/[\uD800-\uDBFF]$/, '')}…`,
    )
    .map((line) => `\nIt failed with: ${line}`);
  return `${PRUNED_POINTER}\nIt named: ${kept.join(' ')}${failures.join('')}`;
}

/** Returns the UTF-16 units that were taken, without the last space. */
function takeInto(kept: string[], words: readonly string[], room: number): number {
  let length = 0;
  for (const word of words) {
    if (length + word.length + 1 > room) continue;
    kept.push(word);
    length += word.length + 1;
  }
  return length - 1;
}

function isPath(word: string): boolean {
  return /[A-Za-z0-9_$-][.][A-Za-z]{1,4}$/.test(word);
}

function withoutEnds(word: string): string {
  let path = word.startsWith('./') ? word.slice(2) : word;
  while (path.endsWith('.')) path = path.slice(0, -1);
  return path;
}

function trimmed(part: string): string {
  let name = part;
  while (/^[.-]/.test(name)) name = name.slice(1);
  while (/[.-]$/.test(name)) name = name.slice(0, -1);
  return name;
}

function isTelling(name: string): boolean {
  if (name.length < 5 || name.length > 80 || !/[A-Za-z]/.test(name)) return false;
  return /[_$0-9.-]/.test(name) || /[A-Z]/.test(name.slice(1));
}

function unique(words: readonly string[]): readonly string[] {
  return [...new Set(words)];
}
