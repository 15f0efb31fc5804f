// The reference token counter: OpenAI's tiktoken, compiled from its own Rust.

import { Tiktoken, get_encoding } from 'tiktoken';

const o200k = get_encoding('o200k_base');

/** Counts the tokens of a text, with special tokens as ordinary text. */
export function referenceCount(text: string): number {
  return o200k.encode_ordinary(text).length;
}

/** The parts of a text that tiktoken's regular expressions match, as one text. */
export function referenceMatches(pattern: string, text: string): string {
  const bytes = Array.from({ length: 256 }, (_, byte) => Buffer.of(byte).toString('base64'));
  const encoding = new Tiktoken(`! 0 ${bytes.join(' ')}`, {}, pattern);
  try {
    return Buffer.from(encoding.encode_ordinary(text)).toString('utf8');
  } finally {
    encoding.free();
  }
}
