// Reads the frames of a summary request like a strict parser, to check that no content escaped its frame.

import { expect } from 'vitest';

/** The contents of a request. */
export interface ReadFrames {
  readonly nonce: string;
  /** The parsed lines of each frame, by the frame's keyword. */
  readonly frames: Readonly<Record<string, readonly unknown[]>>;
  /** The text outside of frames. */
  readonly outside: string;
}

const NONCE = /^<transcript-([0-9a-f]{24})>$/m;
const DELIMITER = /^<(\/?)([a-z_]+)-([0-9a-f]{24})>$/;

/** Reads a prompt. Fails the test on a misplaced delimiter or a line that is not JSON. */
export function readFrames(prompt: string): ReadFrames {
  const nonce = NONCE.exec(prompt)?.[1];
  if (nonce === undefined) throw new Error('The prompt has no transcript frame.');
  const frames: Record<string, unknown[]> = {};
  const outside: string[] = [];
  let open: string | undefined;
  for (const line of prompt.split('\n')) {
    const delimiter = DELIMITER.exec(line);
    if (delimiter !== null) {
      const [, slash, word = '', found] = delimiter;
      expect(found).toBe(nonce);
      if (slash === '') {
        expect(open).toBeUndefined();
        expect(frames).not.toHaveProperty(word);
        frames[word] = [];
        open = word;
      } else {
        expect(word).toBe(open);
        open = undefined;
      }
    } else if (open === undefined) {
      outside.push(line);
    } else {
      expect(line).not.toContain(nonce);
      expect(line).not.toMatch(
        /<\s*\/?\s*(?:transcript|previous_summary|active_todos|state_snapshot)/i,
      );
      frames[open]?.push(JSON.parse(line));
    }
  }
  expect(open).toBeUndefined();
  return { nonce, frames, outside: outside.join('\n') };
}
