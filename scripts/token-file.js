// Encodes tokens as the file that src/shared/tokens/token-file.ts decodes, and describes.

/** `ctf2`; increase the number when the format changes. */
export const MARK = 0x32667463;
const HEADER_BYTES = 8;
const ESCAPE = 0xfe;
const END = 0xff;

/**
 * @param tokens the tokens of a byte pair encoding by rank: as text, or as bytes if they are not valid UTF-8. The format of
 *   gpt-tokenizer's `bpeRanks/*` modules. Unused ranks are holes.
 */
export function encodeTokenFile(tokens) {
  const header = Buffer.alloc(HEADER_BYTES);
  header.writeUInt32LE(MARK, 0);
  header.writeUInt32LE(tokens.length, 4);
  // By index: holes are ranks too.
  const encoded = Array.from(tokens, (token = '') => [
    ...Array.from(Buffer.from(token)).flatMap((byte) =>
      byte >= ESCAPE ? [ESCAPE, byte - ESCAPE] : byte,
    ),
    END,
  ]);
  return Buffer.concat([header, Buffer.from(encoded.flat())]);
}
