// Finds prompts by name: first as a file in the user's directory, then the bundled one. A name can only reach regular files
// inside that directory.

import { constants, readFileSync } from 'node:fs';
import { lstat, open, realpath } from 'node:fs/promises';
import { isAbsolute, join, relative, sep } from 'node:path';
import { PromptError } from '../../shared/errors.js';
import { assertString, readOptions } from '../../shared/misuse.js';

/** Maximum size of a prompt file, in bytes. */
export const MAX_PROMPT_BYTES = 65_536;

/** The name of the only bundled prompt. */
const BUNDLED = 'compression';

const NAME = /^[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62}[A-Za-z0-9])?$/;
/** Device names on Windows, with any extension. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;
const EXTENSION = '.md';

export interface PromptResolverOptions {
  /** Directory with the user's prompts, as `<name>.md`. @default only the bundled ones */
  readonly directory?: string | undefined;
}

/** Resolves prompt names to texts. Reads a file anew each time. */
export class PromptResolver {
  readonly #directory: string | undefined;

  constructor(options: PromptResolverOptions = {}) {
    const { directory } = readOptions('prompt options', options, { directory: assertString });
    this.#directory = directory;
  }

  /**
   * Returns the text of a prompt. The extension `.md` is optional.
   *
   * @throws PromptError `PROMPT_REFUSED` for an invalid name, and for a file that is outside the directory, too long, blank, or
   *   not UTF-8; `PROMPT_NOT_FOUND` if nothing has the name.
   */
  async resolve(name: string): Promise<string> {
    assertString('name', name);
    const stem = name.endsWith(EXTENSION) ? name.slice(0, -EXTENSION.length) : name;
    if (!NAME.test(stem) || DEVICE.test(stem)) {
      const shown = JSON.stringify(name.slice(0, 80));
      throw new PromptError(
        name,
        `${shown} is no name of a prompt. Use letters, digits, '-' and '_', at most 64 of them.`,
        'PROMPT_REFUSED',
      );
    }
    const own =
      this.#directory === undefined ? undefined : await readOwnPrompt(this.#directory, stem);
    if (own !== undefined) return own;
    if (stem === BUNDLED) return getCompressionPrompt();
    throw new PromptError(
      stem,
      `There is no prompt ${stem}, neither in the prompt directory nor bundled (${BUNDLED}).`,
      'PROMPT_NOT_FOUND',
    );
  }
}

/** Reads a prompt from the user's directory; `undefined` if there is none of that name. */
async function readOwnPrompt(directory: string, stem: string): Promise<string | undefined> {
  const refuse = (why: string, cause?: unknown): PromptError =>
    new PromptError(stem, `The prompt file ${stem}${EXTENSION} ${why}.`, 'PROMPT_REFUSED', {
      cause,
    });
  try {
    const root = await realpath(directory);
    const path = await realpath(join(root, stem + EXTENSION));
    const inside = relative(root, path);
    if (isAbsolute(inside) || inside === '..' || inside.startsWith(`..${sep}`)) {
      throw refuse('is a link that leads out of the prompt directory');
    }
    // Check before opening, because opening a pipe or device may block or have side effects.
    if (!(await lstat(path)).isFile()) throw refuse('is no regular file');
    return decode(await readCapped(path, refuse), refuse);
  } catch (error) {
    if (error instanceof PromptError) throw error;
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined;
    throw refuse('cannot be read', error);
  }
}

async function readCapped(path: string, refuse: (why: string) => PromptError): Promise<Uint8Array> {
  // Race: the flags make this fail if a link has replaced the file since the check. Windows has neither flag.
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    if (!(await file.stat()).isFile()) throw refuse('is no regular file');
    const bytes = new Uint8Array(MAX_PROMPT_BYTES + 1);
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    if (length > MAX_PROMPT_BYTES) throw refuse(`is longer than ${MAX_PROMPT_BYTES} bytes`);
    return bytes.subarray(0, length);
  } finally {
    await file.close();
  }
}

function decode(bytes: Uint8Array, refuse: (why: string, cause?: unknown) => PromptError): string {
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    throw refuse('is not UTF-8', error);
  }
  if (text.trim() === '') throw refuse('is blank');
  return text;
}

let bundledPrompt: string | undefined;

/**
 * Returns the bundled system prompt for summaries, which strategies use unless another is configured. Its only source is
 * compression.md beside this file; the build copies it to dist.
 */
export function getCompressionPrompt(): string {
  // Read lazily: most sessions never ask a model.
  bundledPrompt ??= readFileSync(new URL('./compression.md', import.meta.url), 'utf8');
  return bundledPrompt;
}
