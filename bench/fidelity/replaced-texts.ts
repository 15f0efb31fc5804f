// What a tool call replaces in files, recognized by the shape of its parameters. Independent of session formats and tool names,
// because the same editors have different names.

/** Text in one place of a file that a call replaces. */
export interface ReplacedText {
  /** As written in the call; empty if it names none. */
  readonly file: string;
  /** The lines that the agent must have seen, without indentation and blank lines. */
  readonly lines: readonly string[];
}

const FILE_KEYS = ['file_path', 'absolute_path', 'path', 'notebook_path', 'filename'] as const;
const OLD_TEXT_KEYS = ['old_string', 'old_str', 'old_text'] as const;
/** A search text alone is not an edit. */
const SEARCHED_KEYS = { old: 'search', new: 'replace' } as const;

const PATCH = /^\*\*\* Begin Patch\r?\n[^]*?^\*\*\* End Patch/gm;
/** A patch in a string literal of a script. */
const QUOTED_PATCH = /"\*\*\* Begin Patch\\n(?:[^"\\]|\\.)*"/g;
const PATCHED_FILE = /^\*\*\* (?:Add|Update|Delete) File: (.+)$/;
const SEARCHED = /^(?:<{5,}|-{5,}) SEARCH>?\r?\n([^]*?)^={5,}\r?$/gm;

/**
 * Returns what a call replaces: the old text of each edit, the search blocks of a diff, or the context and removed lines of each
 * `apply_patch` hunk, also inside a script or in arguments for another tool. Texts with only blank lines are omitted.
 */
export function replacedTexts(parameters: unknown): readonly ReplacedText[] {
  if (typeof parameters === 'string') return patchedTexts(parameters);
  const values = asRecord(parameters);
  if (values === undefined) return [];
  const file = firstText(values, FILE_KEYS) ?? '';
  const texts: ReplacedText[] = [];
  const command = values['command'];
  // Multi-command editors fill unused parameters with empty or leftover text.
  if (typeof values['old_str'] !== 'string' || command === undefined || command === 'str_replace') {
    texts.push(...oldTexts(file, [values]));
  }
  const searched = values[SEARCHED_KEYS.old];
  if (typeof searched === 'string' && typeof values[SEARCHED_KEYS.new] === 'string') {
    texts.push({ file, lines: shownLines(searched) });
  }
  if (Array.isArray(values['edits'])) texts.push(...oldTexts(file, values['edits']));
  if (typeof values['diff'] === 'string') {
    for (const [, block] of values['diff'].matchAll(SEARCHED)) {
      texts.push({ file, lines: shownLines(block ?? '') });
    }
  }
  for (const value of Object.values(values)) {
    const scripts: readonly unknown[] = Array.isArray(value) ? value : [value];
    for (const script of scripts) {
      if (typeof script === 'string') texts.push(...patchedTexts(script));
    }
    if (asRecord(value) !== undefined) texts.push(...replacedTexts(value));
  }
  return texts.filter(({ lines }) => lines.length > 0);
}

/** The lines of a text that are not blank, trimmed. */
export function shownLines(text: string): readonly string[] {
  return text.split('\n').flatMap((line) => {
    const shown = line.trim();
    return shown === '' ? [] : [shown];
  });
}

function oldTexts(file: string, edits: readonly unknown[]): readonly ReplacedText[] {
  return edits.flatMap((edit) => {
    const values = asRecord(edit);
    const text = values && firstText(values, OLD_TEXT_KEYS);
    return text === undefined ? [] : [{ file, lines: shownLines(text) }];
  });
}

function patchedTexts(script: string): readonly ReplacedText[] {
  if (!script.includes('*** Begin Patch')) return [];
  const patches = Array.from(script.matchAll(PATCH), ([patch]) => patch);
  for (const [literal] of script.matchAll(QUOTED_PATCH)) {
    try {
      patches.push(String(JSON.parse(literal)));
    } catch {
      // An escape that JSON does not know: only running the script would tell.
    }
  }
  return patches.flatMap(hunks);
}

function hunks(patch: string): readonly ReplacedText[] {
  const found: ReplacedText[] = [];
  let file = '';
  let lines: string[] = [];
  const close = (): void => {
    if (lines.length > 0) found.push({ file, lines });
    lines = [];
  };
  for (const line of patch.split('\n')) {
    if (line.startsWith('@@') || line.startsWith('*** ')) {
      close();
      file = PATCHED_FILE.exec(line)?.[1]?.trim() ?? file;
    } else if (line.startsWith(' ') || line.startsWith('-')) {
      lines.push(...shownLines(line.slice(1)));
    }
  }
  close();
  return found;
}

function asRecord(value: unknown): Readonly<Record<string, unknown>> | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
}

function firstText(
  values: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): string | undefined {
  for (const key of keys) {
    const value = values[key];
    if (typeof value === 'string') return value;
  }
  return undefined;
}
