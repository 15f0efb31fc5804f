// Reads recorded sessions of other agents as histories. Detects the format, then streams. JSON Lines need memory for one line and one
// turn, or for one context if the format has branches; a document needs memory for all of it.

import type { IContent } from '../../shared/content.js';
import { CtxfoldError } from '../../shared/errors.js';
import {
  assertFunction,
  assertSignal,
  assertString,
  kindOf,
  readOptions,
  isObject,
} from '../../shared/misuse.js';
import type { Checks } from '../../shared/misuse.js';
import type { Format } from './format.js';
import { detectDocumentFormat, detectRecordFormat, FORMATS, listOf } from './formats.js';
import { HistoryAssembler } from './history-assembler.js';
import { jsonErrorOffset, lineAndColumn } from './json-error-offset.js';
import { INVALID_UNICODE, LineSplitter, readJsonLines } from './json-lines.js';
import { asRecord, asText, tryParseJson, type JsonRecord } from '../../shared/json.js';
import { agentPreset, type AgentPreset } from './presets.js';
import { readText, unreadable, type TranscriptChunks } from './transcript-text.js';
import {
  TRANSCRIPT_FORMATS,
  type TranscriptEvent,
  type TranscriptFormat,
  type TranscriptPlace,
  type TranscriptWarning,
} from './transcript.js';

export interface ReadTranscriptOptions {
  /** Not checked against the content. @default detected from the content */
  readonly format?: TranscriptFormat | undefined;
  /** Aborting rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
  /** Called after each piece with the length read so far: bytes, or characters if the source yields text. */
  readonly onRead?: ((length: number) => void) | undefined;
}

/** A transcript that was read completely. */
export interface Transcript {
  readonly format: TranscriptFormat;
  /** The recorded working directory. */
  readonly workspaceRoot?: string;
  /** All entries. From each start of a context to the next, they are a valid history. */
  readonly entries: readonly IContent[];
  /**
   * Ascending indices of entries at which the agent began a new context, mostly because it had compacted its history. The new
   * context contains nothing before that entry: what the agent kept is repeated, with `isKept` in its metadata. Absent if the
   * session has a single context.
   */
  readonly contextStarts?: readonly number[];
  /** What was left out or repaired. */
  readonly warnings: readonly TranscriptWarning[];
  /** How histories of this agent are pruned. */
  readonly preset: AgentPreset;
}

const CHECKS: Checks<ReadTranscriptOptions> = {
  format: null,
  signal: assertSignal,
  onRead: assertFunction,
};

/** Maximum number of lines examined to detect a format. */
const PROBED_LINES = 50;

/** Maximum length of a document in characters. */
const MAX_DOCUMENT_LENGTH = 256 * 1024 * 1024;

/**
 * Reads a recorded session, from a path or from chunks of text or bytes: UTF-8 or UTF-16.
 *
 * @throws CtxfoldError `UNKNOWN_FORMAT` if the content has no known format or the given one is not
 * known; `UNREADABLE_TRANSCRIPT` if the file cannot be read, is not text, or is a document whose JSON
 * is damaged.
 */
export async function readTranscript(
  source: string | TranscriptChunks,
  options: ReadTranscriptOptions = {},
): Promise<Transcript> {
  if (!isChunks(source)) assertString('path', source);
  let format: TranscriptFormat | undefined;
  let workspaceRoot: string | undefined;
  const entries: IContent[] = [];
  const contextStarts: number[] = [];
  const warnings: TranscriptWarning[] = [];
  for await (const event of streamTranscript(source, options)) {
    if (event.kind === 'entry') entries.push(event.content);
    else if (event.kind === 'warning') warnings.push(event.warning);
    else if (event.kind === 'context-start') contextStarts.push(entries.length);
    else if (event.kind === 'format') format = event.format;
    else workspaceRoot = event.path;
  }
  if (format === undefined) throw unknownFormat('The transcript');
  return {
    format,
    ...(workspaceRoot !== undefined && { workspaceRoot }),
    entries,
    ...(contextStarts.length > 0 && { contextStarts }),
    warnings,
    preset: agentPreset(format),
  };
}

/**
 * Streams a recorded session, from a path or from chunks of text or bytes: UTF-8 or UTF-16.
 *
 * @throws CtxfoldError as `readTranscript` does, while iterating.
 */
export async function* streamTranscript(
  source: string | TranscriptChunks,
  options: ReadTranscriptOptions = {},
): AsyncGenerator<TranscriptEvent> {
  const { format, signal, onRead } = readOptions('options', options, CHECKS);
  if (format !== undefined && !TRANSCRIPT_FORMATS.includes(format)) {
    throw unknownFormat(`The format, ${kindOf(format)},`);
  }
  signal?.throwIfAborted();
  const text = readText(source, signal, onRead);
  try {
    const head: string[] = [];
    const named: Format | undefined = format && FORMATS[format];
    const lines = await detectLines(text, head, named);
    const pieces = chain(head, text);
    if (lines !== undefined) yield* assemble(lines.format, readJsonLines(pieces), lines.document);
    else yield* streamDocument(pieces, named);
  } finally {
    await text.return(undefined);
  }
}

function isChunks(source: unknown): source is TranscriptChunks {
  return isObject(source) && Symbol.asyncIterator in source;
}

/** JSON Lines: records of a format, or the messages of a document, for which `document` is empty as for a bare list. */
interface Lines {
  readonly format: Format;
  readonly document?: JsonRecord;
}

/**
 * Reads until JSON Lines are detected or ruled out, and appends the text read so far to `head`. Returns `undefined` for a document. A
 * named format is not checked.
 *
 * @throws CtxfoldError `UNKNOWN_FORMAT` for JSON Lines of no known format
 */
async function detectLines(
  text: AsyncGenerator<string>,
  head: string[],
  named: Format | undefined,
): Promise<Lines | undefined> {
  if (named !== undefined && named.document === undefined) return recordsIn(named);
  const probed: unknown[] = [];
  for await (const value of firstValues(text, head)) {
    const format = detectRecordFormat(value);
    if (format !== undefined) return recordsIn(named ?? format);
    probed.push(value);
  }
  const [first, second] = probed;
  // Only a document on a single line begins with a line that is a complete object.
  if (asRecord(first) === undefined) return undefined;
  const format = detectDocumentFormat(probed);
  if (format !== undefined) return { format: named ?? format, document: {} };
  if (asRecord(second) === undefined) return undefined;
  if (named === undefined) throw unknownFormat('A JSON Lines file with such records');
  return recordsIn(named);
}

/** Yields the values on the first lines, `undefined` for one that is no JSON, and appends the text that they are read from to `head`. */
async function* firstValues(
  text: AsyncGenerator<string>,
  head: string[],
): AsyncGenerator<unknown, void, undefined> {
  const splitter = new LineSplitter();
  let length = 0;
  for (let values = 0; values < PROBED_LINES && length <= MAX_DOCUMENT_LENGTH;) {
    // By `next`: the rest is read after these lines.
    const next = await text.next();
    if (next.done !== true) {
      head.push(next.value);
      length += next.value.length;
    }
    for (const line of next.done === true ? [splitter.end()] : splitter.push(next.value)) {
      const json = line?.replaceAll('\0', '').trim() ?? '';
      if (json === '') continue;
      values += 1;
      yield tryParseJson(json);
    }
    if (next.done === true) return;
  }
}

function recordsIn(format: Format): Lines | undefined {
  return format.detectRecord && { format };
}

async function* chain(
  head: readonly string[],
  rest: AsyncIterable<string>,
): AsyncGenerator<string> {
  yield* head;
  yield* rest;
}

/** A record of JSON Lines or a message of a document; instead of its value, what is wrong with it. */
interface Item extends TranscriptPlace {
  readonly value?: unknown;
  readonly damage?: string;
}

/** @throws CtxfoldError `UNREADABLE_TRANSCRIPT` if the document has no list of messages. */
function* messagesOf(document: unknown, { name, document: shape }: Format): Generator<Item> {
  const list = shape && listOf(document, shape);
  if (list === undefined) {
    throw unreadable(`The transcript is no ${name} document: it has no list "${shape?.lists[0]}".`);
  }
  for (const [index, value] of list.messages.entries()) {
    yield { place: `${list.name}[${index}]`, value };
  }
}

/** Reads records or messages into a history. Yields after each what became final. */
async function* assemble(
  format: Format,
  items: AsyncIterable<Item> | Iterable<Item>,
  document?: JsonRecord,
): AsyncGenerator<TranscriptEvent> {
  yield { kind: 'format', format: format.name };
  const history = new HistoryAssembler();
  // A saved request names its model beside its messages.
  history.model = asText(document?.['model']);
  const reader = format.open(history, document);
  const what = document === undefined ? 'record' : 'message';
  for await (const { value, damage, ...place } of items) {
    history.place = place;
    const record = asRecord(value);
    if (record !== undefined) reader.read(record);
    else history.warn(damage ?? `A ${what} that is no object was left out.`);
    yield* history.drain();
  }
  reader.finish?.();
  history.finish();
  yield* history.drain();
}

async function* streamDocument(
  pieces: AsyncIterable<string>,
  named: Format | undefined,
): AsyncGenerator<TranscriptEvent> {
  const recorded = await wholeText(pieces, named !== undefined);
  const text = recorded.toWellFormed();
  const document = parseDocument(text);
  const format = named ?? detectDocumentFormat(document);
  if (format === undefined) throw unknownFormat('A JSON document of this shape');
  yield* assemble(format, messagesOf(document, format), asRecord(document) ?? {});
  if (text === recorded) return;
  const { line, column } = lineAndColumn(text, recorded.search(/\p{Surrogate}/u));
  yield {
    kind: 'warning',
    warning: { line, message: `${INVALID_UNICODE}, from column ${column} on.` },
  };
}

/** Reads the whole text. Unless the format was named, stops at a start that is not JSON: a folder may contain any files. */
async function wholeText(pieces: AsyncIterable<string>, isNamed: boolean): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  let first: string | undefined;
  for await (const piece of pieces) {
    first ??= /[^\s\0]/.exec(piece)?.[0];
    if (!isNamed && first !== undefined && first !== '{' && first !== '[')
      throw unknownFormat('Text that is no JSON');
    length += piece.length;
    if (length > MAX_DOCUMENT_LENGTH) {
      throw unreadable(
        `The transcript is a document of more than ${MAX_DOCUMENT_LENGTH} characters.`,
      );
    }
    parts.push(piece);
  }
  if (!isNamed && first === undefined) {
    throw new CtxfoldError('The transcript is empty.', 'UNKNOWN_FORMAT');
  }
  return parts.join('');
}

/**
 * Parses a document.
 *
 * @throws CtxfoldError `UNREADABLE_TRANSCRIPT`, with the position at which the text stops being JSON.
 */
function parseDocument(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    const offset = jsonErrorOffset(text);
    const { line, column } = lineAndColumn(text, offset);
    const what = offset >= text.trimEnd().length ? 'ends too early' : 'is damaged';
    throw unreadable(
      `The transcript's JSON ${what} at line ${line}, column ${column} (character ${offset}).`,
      error,
    );
  }
}

function unknownFormat(what: string): CtxfoldError {
  return new CtxfoldError(
    `${what} is no known transcript format. Known are: ${TRANSCRIPT_FORMATS.join(', ')}.`,
    'UNKNOWN_FORMAT',
  );
}
