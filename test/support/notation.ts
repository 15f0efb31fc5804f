// A mini-notation for histories and edits, so that a dozen cases fit a screen. A history is a string of space-separated
// entries: `h:hello a:*s1,r1(a.ts) t:r1 a:w2(a.ts) t:w2!`.
/*
 * entry     speaker [ "#" id ] [ ":" blocks ]
 *           speaker: h human, a ai, t tool; `#m1` sets metadata.id; blocks are joined by commas.
 *           `h` and `a` alone hold the text "hello" and "okay"; `a:` holds no blocks at all.
 *
 * call      letter number [ "(" argument ")" ]                                  r1(a.ts)
 *           In an ai or human entry. The letter is the tool, letter and number are the id:
 *             r read_file          l read_line_range     x ast_read_file
 *             m read_many_files, its paths joined by "|"
 *             w write_file         e replace
 *             s run_shell_command  g search_file_content  f web_fetch
 *           The argument is the path (command, pattern, URL), "a.ts" by default; after "=" it is the
 *           whole `parameters` as JSON: r1(=null), w1(={"path":"b.ts"}).
 *
 * response  letter number [ "(" result ")" ] [ mark ]                           r1(245 lines)!
 *           In a tool entry. The result is "result of r1" by default, and JSON after "=".
 *           Marks: ! failed (error "failed"), ? not complete; then ~ its result is the pruned pointer.
 *           `>r1` is a response and `<r1` a call wherever they stand.
 *
 * text      pieces joined by "+", each a line of its own                        see+@a.ts+"and so on"
 *           word      itself, unless it reads as a call: letters, digits, "_", ".", "/", "-"
 *           "..."     any text, escaped as in JSON
 *           _         one space: blank
 *           @path     an inclusion of that file; @path(content) with other content
 * code      `let x = 1`
 * thinking  *         unsigned; *s1 has the signature "s1"
 * media     %         a picture; %cat.png has that file name
 * opaque    "&" kind [ "(" tokens ")" ] [ "=" call ]                            &approval(25)=r1
 *           10 tokens by default; behind "=" the id of the call whose fate it shares.
 */

import type {
  ContentBlock,
  IContent,
  OpaqueBlock,
  Speaker,
  ToolResponseBlock,
} from '../../src/shared/content.js';
import { PRUNED_POINTER, REMOVED_POINTER } from '../../src/shared/density.js';
import type { DensityResult } from '../../src/shared/density.js';

interface NotedTool {
  readonly name: string;
  readonly parameters: (argument: string) => unknown;
}

const TOOLS: Readonly<Record<string, NotedTool>> = {
  r: { name: 'read_file', parameters: (path) => ({ file_path: path }) },
  l: { name: 'read_line_range', parameters: (path) => ({ file_path: path }) },
  x: { name: 'ast_read_file', parameters: (path) => ({ file_path: path }) },
  m: { name: 'read_many_files', parameters: (paths) => ({ paths: paths.split('|') }) },
  w: { name: 'write_file', parameters: (path) => ({ file_path: path, content: 'new' }) },
  e: { name: 'replace', parameters: (path) => ({ file_path: path, old: 'old', new: 'new' }) },
  s: { name: 'run_shell_command', parameters: (command) => ({ command }) },
  g: { name: 'search_file_content', parameters: (pattern) => ({ pattern }) },
  f: { name: 'web_fetch', parameters: (url) => ({ url }) },
};
const DEFAULT_ARGUMENT = 'a.ts';

const SPEAKERS: Readonly<Record<string, Speaker>> = { h: 'human', a: 'ai', t: 'tool' };
const DEFAULT_TEXT: Readonly<Record<Speaker, string | undefined>> = {
  human: 'hello',
  ai: 'okay',
  tool: undefined,
};

const BLANK = ' ';
const THOUGHT = 'thought';
const PICTURE = { type: 'media', mimeType: 'image/png', data: 'AAAA', encoding: 'base64' } as const;
const OPAQUE_TOKENS = 10;
const CLOSING = '--- End of content ---';

// Sticky, one per token; the text of a token never contains a character that ends it.
const ENTRY = /([hat])(?:#([\w-]+))?(:)?/y;
const TOOL_USE = /([<>]?)([rlxmwesgf])(\d+)(?:\(([^()]*)\))?([!?]?)(~?)(?![\w./-])/y;
const WORD = /[\w./-]+/y;
const QUOTED = /"(?:[^"\\]|\\.)*"/y;
const INCLUSION = /@([\w./-]+)(?:\(([^()]*)\))?/y;
const CODE = /`([^`]*)`/y;
const THINKING = /\*([\w-]*)/y;
const MEDIA = /%([\w.-]*)/y;
const OPAQUE = /&([\w.-]+)(?:\((\d+)\))?(?:=([\w-]+))?/y;

/**
 * Parses a notation. Equal notations make equal histories of new objects.
 *
 * @throws SyntaxError with the position of the problem.
 */
export function historyOf(notation: string): IContent[] {
  const reader = new Reader(notation);
  const history: IContent[] = [];
  reader.skipSpace();
  while (!reader.isAtEnd()) {
    history.push(readEntry(reader));
    reader.skipSpace();
  }
  return history;
}

/** Writes a history in the notation; `historyOf` restores an equal one if the notation can express it. */
export function describeHistory(history: readonly IContent[]): string {
  return history.map(describeEntry).join(' ');
}

/** Writes a result in short: `-1 -2 ~5` removes entries 1 and 2 and replaces entry 5. */
export function describeResult(result: DensityResult): string {
  const edits = [
    ...result.removals.map((index) => ({ index, sign: '-' })),
    ...[...result.replacements.keys()].map((index) => ({ index, sign: '~' })),
  ];
  return edits
    .sort((a, b) => a.index - b.index)
    .map(({ index, sign }) => `${sign}${index}`)
    .join(' ');
}

/** A cursor over the notation. */
class Reader {
  readonly #notation: string;
  #at = 0;

  constructor(notation: string) {
    this.#notation = notation;
  }

  isAtEnd(): boolean {
    return this.#at === this.#notation.length;
  }

  skipSpace(): void {
    this.take(/\s*/y);
  }

  /** Consumes a token that matches the sticky expression here; otherwise returns `null` and stays. */
  take(token: RegExp): RegExpExecArray | null {
    token.lastIndex = this.#at;
    const match = token.exec(this.#notation);
    if (match !== null) this.#at += match[0].length;
    return match;
  }

  fail(expected: string): never {
    const rest = JSON.stringify(this.#notation.slice(this.#at, this.#at + 20));
    throw new SyntaxError(`Expected ${expected} at ${this.#at} of the notation, got ${rest}.`);
  }
}

function readEntry(reader: Reader): IContent {
  const head = reader.take(ENTRY) ?? reader.fail('an entry (h, a or t)');
  const speaker = SPEAKERS[head[1] ?? ''] ?? reader.fail('a speaker');
  const blocks = head[3] === undefined ? defaultBlocks(speaker) : readBlocks(reader, speaker);
  if (!reader.isAtEnd() && reader.take(/(?=\s)/y) === null) reader.fail('a space or a comma');
  return head[2] === undefined
    ? { speaker, blocks }
    : { speaker, blocks, metadata: { id: head[2] } };
}

function defaultBlocks(speaker: Speaker): ContentBlock[] {
  const text = DEFAULT_TEXT[speaker];
  return text === undefined ? [] : [{ type: 'text', text }];
}

function readBlocks(reader: Reader, speaker: Speaker): ContentBlock[] {
  if (reader.isAtEnd() || reader.take(/(?=\s)/y) !== null) return [];
  const blocks = [readBlock(reader, speaker)];
  while (reader.take(/,/y) !== null) blocks.push(readBlock(reader, speaker));
  return blocks;
}

function readBlock(reader: Reader, speaker: Speaker): ContentBlock {
  const use = reader.take(TOOL_USE);
  if (use !== null) {
    const isResponse = use[1] === '>' || (use[1] === '' && speaker === 'tool');
    return isResponse ? responseBlock(reader, use) : callBlock(reader, use);
  }
  const code = reader.take(CODE);
  if (code !== null) return { type: 'code', code: code[1] ?? '' };
  const thinking = reader.take(THINKING);
  if (thinking !== null) {
    const signature = thinking[1] ?? '';
    return { type: 'thinking', thought: THOUGHT, ...(signature !== '' && { signature }) };
  }
  const media = reader.take(MEDIA);
  if (media !== null) {
    const filename = media[1] ?? '';
    return { ...PICTURE, ...(filename !== '' && { filename }) };
  }
  const opaque = reader.take(OPAQUE);
  if (opaque !== null) return opaqueBlock(opaque);
  const pieces = [readPiece(reader)];
  while (reader.take(/\+/y) !== null) pieces.push(readPiece(reader));
  return { type: 'text', text: pieces.join('\n') };
}

function opaqueBlock([, kind = '', tokens, callId]: RegExpExecArray): ContentBlock {
  return {
    type: 'opaque',
    kind,
    tokens: tokens === undefined ? OPAQUE_TOKENS : Number(tokens),
    ...(callId !== undefined && { callId }),
  };
}

function callBlock(reader: Reader, use: RegExpExecArray): ContentBlock {
  const [, , letter = '', number = '', argument = DEFAULT_ARGUMENT] = use;
  const tool = TOOLS[letter] ?? reader.fail(`a tool's letter before ${letter}${number}`);
  const parameters = argument.startsWith('=') ? parseJson(argument) : tool.parameters(argument);
  return { type: 'tool_call', id: letter + number, name: tool.name, parameters };
}

function responseBlock(reader: Reader, use: RegExpExecArray): ContentBlock {
  const [, , letter = '', number = '', text, mark, pointer] = use;
  const tool = TOOLS[letter] ?? reader.fail(`a tool's letter before ${letter}${number}`);
  const callId = letter + number;
  const given = text?.startsWith('=') === true ? parseJson(text) : (text ?? defaultResult(callId));
  return {
    type: 'tool_response',
    callId,
    toolName: tool.name,
    result: pointer === '~' ? PRUNED_POINTER : given,
    isComplete: mark !== '?',
    ...(mark === '!' && { error: 'failed' }),
  };
}

function readPiece(reader: Reader): string {
  const inclusion = reader.take(INCLUSION);
  if (inclusion !== null) {
    const path = inclusion[1] ?? '';
    return inclusionText(path, inclusion[2] ?? defaultContent(path));
  }
  const quoted = reader.take(QUOTED);
  if (quoted !== null) return String(JSON.parse(quoted[0]));
  const word = reader.take(WORD) ?? reader.fail('a block');
  return word[0] === '_' ? BLANK : word[0];
}

function parseJson(argument: string): unknown {
  return JSON.parse(argument.slice(1));
}

function defaultResult(callId: string): string {
  return `result of ${callId}`;
}

function defaultContent(path: string): string {
  return `content of ${path}`;
}

function inclusionText(path: string, content: string): string {
  return `--- ${path} ---\n${content}\n${CLOSING}`;
}

function describeEntry({ speaker, blocks, metadata }: IContent): string {
  const id = metadata?.id === undefined ? '' : `#${metadata.id}`;
  const head = speaker.charAt(0) + id;
  const [first] = blocks;
  const isDefault =
    blocks.length === 1 && first?.type === 'text' && first.text === DEFAULT_TEXT[speaker];
  if (isDefault || (speaker === 'tool' && blocks.length === 0)) return head;
  return `${head}:${blocks.map((block) => describeBlock(block, speaker)).join(',')}`;
}

function describeBlock(block: ContentBlock, speaker: Speaker): string {
  switch (block.type) {
    case 'text':
      return describeText(block.text);
    case 'code':
      return `\`${block.code}\``;
    case 'thinking':
      return `*${block.signature ?? ''}`;
    case 'media':
      return `%${block.filename ?? ''}`;
    case 'opaque':
      return describeOpaque(block);
    case 'tool_call':
      return (speaker === 'tool' ? '<' : '') + block.id + describeParameters(block);
    case 'tool_response':
      return (speaker === 'tool' ? '' : '>') + block.callId + describeOutcome(block);
  }
}

function describeOpaque({ kind, tokens, callId }: OpaqueBlock): string {
  const size = tokens === OPAQUE_TOKENS ? '' : `(${tokens})`;
  return `&${kind}${size}${callId === undefined ? '' : `=${callId}`}`;
}

function describeParameters({ id, parameters }: { id: string; parameters: unknown }): string {
  const json = JSON.stringify(parameters);
  const tool = TOOLS[id.charAt(0)];
  const value: unknown = Object.values(parameters ?? {})[0];
  const argument = Array.isArray(value) ? value.join('|') : value;
  if (typeof argument !== 'string' || JSON.stringify(tool?.parameters(argument)) !== json) {
    return `(=${json})`;
  }
  return argument === DEFAULT_ARGUMENT ? '' : `(${argument})`;
}

function describeOutcome({ callId, result, error, isComplete }: ToolResponseBlock): string {
  const mark = error !== undefined ? '!' : isComplete === false ? '?' : '';
  if (result === PRUNED_POINTER || result === REMOVED_POINTER) return `${mark}~`;
  if (result === defaultResult(callId)) return mark;
  return `(${typeof result === 'string' ? result : `=${JSON.stringify(result)}`})${mark}`;
}

const DELIMITED = /--- ([\w./-]+) ---\n([^()]*?)\n--- End of content ---/g;

/** The shortest notation of a text that parses back to it. */
function describeText(text: string): string {
  if (text === BLANK) return '_';
  const pieces: string[] = [];
  let from = 0;
  for (const match of text.matchAll(DELIMITED)) {
    const [whole, path = '', content = ''] = match;
    if (match.index > from) pieces.push(describePlain(text.slice(from, match.index - 1)));
    pieces.push(content === defaultContent(path) ? `@${path}` : `@${path}(${content})`);
    from = match.index + whole.length + 1;
  }
  if (from <= text.length) pieces.push(describePlain(text.slice(from)));
  const notation = pieces.join('+');
  return readsAs(notation, text) ? notation : JSON.stringify(text);
}

function describePlain(text: string): string {
  const isWord = /^[\w./-]+$/.test(text) && readsAs(text, text);
  return isWord ? text : JSON.stringify(text);
}

function readsAs(notation: string, text: string): boolean {
  try {
    const [block, another] = historyOf(`a:${notation}`)[0]?.blocks ?? [];
    return another === undefined && block?.type === 'text' && block.text === text;
  } catch {
    return false;
  }
}
