// Writes the tokens of o200k, and the classes of characters that it goes by, as modules of the sources, so that compilers
// and bundlers take them for what they are: code. Git does not keep them, and a build makes them anew only for others.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { encodeTokenFile, MARK } from './token-file.js';

const FOLDER = 'src/shared/tokens';
const TOKENS = `${FOLDER}/o200k-data.ts`;
const CLASSES = `${FOLDER}/o200k-classes.ts`;

/** The tokens are those of OpenAI's tiktoken (MIT), as gpt-tokenizer (MIT) has them. */
async function writeTokenModule() {
  const head = headOf('gpt-tokenizer', `, in the format 0x${MARK.toString(16)}`);
  if (isWritten(TOKENS, head)) return;
  const { default: tokens } = await import('gpt-tokenizer/bpeRanks/o200k_base');
  const compressed = brotliCompressSync(encodeTokenFile(tokens), {
    params: {
      [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
      [constants.BROTLI_PARAM_LGWIN]: constants.BROTLI_MAX_WINDOW_BITS,
    },
  });
  const text = compressed.toString('base64');
  writeFileSync(TOKENS, `${head}\nexport const O200K_TOKENS: string =\n  '${text}';\n`);
}

/** By the letter that stands for it, what the encoding's pattern calls the characters of a class; all others are `o`. */
const CLASS_PATTERNS = {
  u: '[\\p{Lu}\\p{Lt}]',
  l: '\\p{Ll}',
  b: '[\\p{Lm}\\p{Lo}]',
  m: '\\p{M}',
  n: '\\p{N}',
  r: '[\\r\\n]',
  s: '[\\s--\\r\\n]',
};

/**
 * The classes are those of the Unicode version that tiktoken has, which may be another than that of the Node that builds
 * or counts: each pattern is matched by tiktoken itself, with an encoding of bytes, on every character there is.
 */
async function writeClassModule() {
  const head = headOf('tiktoken', '');
  if (isWritten(CLASSES, head)) return;
  const { Tiktoken } = await import('tiktoken');
  const points = Array.from({ length: 0x110000 }, (_, point) => point);
  const all = points.map((point) => String.fromCodePoint(point)).join('');
  const tokenOfByte = (byte) => Buffer.of(byte).toString('base64');
  const bytes = `! 0 ${Array.from({ length: 256 }, (_, byte) => tokenOfByte(byte)).join(' ')}`;
  const classes = points.fill('o');
  for (const [name, pattern] of Object.entries(CLASS_PATTERNS)) {
    const encoding = new Tiktoken(bytes, {}, pattern);
    const matched = Buffer.from(encoding.encode_ordinary(all)).toString('utf8');
    for (const character of matched) classes[character.codePointAt(0)] = name;
    encoding.free();
  }
  const runs = classes
    .join('')
    .replace(/(\w)\1*/g, (run, name) => `${name}${lengthText(run.length)}`);
  writeFileSync(CLASSES, `${head}\nexport const O200K_CLASSES: string =\n  '${runs}';\n`);
}

/** A length above 1, in digits. */
function lengthText(length) {
  return length === 1 ? '' : String(length);
}

function headOf(name, rest) {
  const { version } = JSON.parse(readFileSync(`node_modules/${name}/package.json`, 'utf8'));
  return `// Made by scripts/write-tokens.js from ${name} ${version}${rest}.\n`;
}

function isWritten(module, head) {
  return existsSync(module) && readFileSync(module, 'utf8').startsWith(head);
}

export async function writeTokens() {
  await writeTokenModule();
  await writeClassModule();
}
