// Encodes tokens in the format that src/shared/tokens/token-file.ts documents and decodes.

/** `ctf2`; increment the number when the format changes. */
export const MARK = 0x32667463;
const HEADER_BYTES = 8;
const ESCAPE = 0xfe;
const END = 0xff;

/**
 * @param tokens the tokens of a byte pair encoding by rank, as text, or as bytes if they are not valid UTF-8: the format of
 * gpt-tokenizer's `bpeRanks/*` modules. Unused ranks are holes.
 */
export function encodeTokenFile(tokens) {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MARK, 0);
  header.writeUInt32LE(tokens.length, 4);
  // `Array.from` visits holes too, which are unused ranks.
  const encoded = Array.from(tokens, (token = '') => [
    ...Array.from(Buffer.from(token)).flatMap((byte) =>
      byte >= ESCAPE ? [ESCAPE, byte - ESCAPE] : byte,
    ),
    END,
  ]);
  return Buffer.concat([header, Buffer.from(encoded.flat())]);
}
