// Reads the frames of a request for a summary the way a strict parser would, to see that nothing left one.

import { expect } from 'vitest';

/** What a request holds. */
export interface ReadFrames {
  readonly nonce: string;
  /** The parsed lines of each frame, by the frame's word. */
  readonly frames: Readonly<Record<string, readonly unknown[]>>;
  /** The text outside of frames. */
  readonly outside: string;
}

const NONCE = /^<transcript-([0-9a-f]{24})>$/m;
const DELIMITER = /^<(\/?)([a-z_]+)-([0-9a-f]{24})>$/;

/** Reads a prompt. Fails the test where a delimiter is not where it should be or a line is no JSON. */
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
