// Generates modules with the o200k tokens and the character classes of its pattern, so that compilers and bundlers treat them as
// code. Git ignores them, and a build regenerates them only when their source package or format changes.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { brotliCompressSync, constants } from 'node:zlib';
import { encodeTokenFile, MARK } from './token-file.js';

const FOLDER = 'src/shared/tokens';
const TOKENS = `${FOLDER}/o200k-data.ts`;
const CLASSES = `${FOLDER}/o200k-classes.ts`;

/** The tokens of OpenAI's tiktoken (MIT), as packaged by gpt-tokenizer (MIT). */
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

/** The encoding's character classes by the letter that stands for them; all other characters are `o`. */
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
 * Takes the classes from tiktoken's Unicode version, which may differ from that of the Node that builds or counts: tiktoken
 * itself matches each pattern, with a byte-level encoding, on every character.
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

/** A run length; 1 is omitted. */
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
