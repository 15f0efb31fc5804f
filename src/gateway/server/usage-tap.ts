// Reads the usage that a provider reports from a copy of its answer: a JSON document, a stream of events, or frames with events,
// compressed or not. Never delays the answer, and ignores what it cannot read.

import type { IncomingMessage } from 'node:http';
import { StringDecoder } from 'node:string_decoder';
import { REFUSED } from '../../adapters/conversation/editing-fetch.js';
import { usageNumbers } from '../../adapters/request/provider-usage.js';
import { REFUSED_IN_STREAM } from '../../main/models/model-limits.js';
import { asRecord, tryParseJson } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { AnsweredUsage } from '../engine/protocol.js';
import { codingOf } from './coding.js';

/** How much of the end of a document or an event is searched, in UTF-16 units: providers put the usage at the end. */
const MAX_TEXT = 64 * 1024;
/** Limit for the backlog of the decompressor, in bytes. */
const MAX_BUFFERED_BYTES = 4 * 1024 * 1024;

export interface TapReport {
  readonly usage: AnsweredUsage | undefined;
  /** The body of an answer whose status is in `REFUSED`, or the text with which a stream refuses the prompt. */
  readonly refusal: string | undefined;
}

/** Listens to an answer, and reports when it has ended or was cut off: even then, the input usage may have come at the start. */
export function tapUsage(answer: IncomingMessage, onReport: (report: TapReport) => void): void {
  const type = answer.headers['content-type'] ?? '';
  const isRefusal = REFUSED.has(answer.statusCode);
  const reader = new UsageReader(isRefusal || /\bjson\b/i.test(type));
  const frames = /\bvnd\.amazon\.eventstream\b/i.test(type) ? new FrameReader() : undefined;
  const end = (): void => {
    const usage = reader.end();
    onReport({ usage, refusal: isRefusal ? reader.text : reader.refusal });
  };
  const add = (chunk: Buffer): void => {
    if (frames === undefined) reader.add(chunk);
    else for (const event of frames.add(chunk)) reader.add(event);
  };
  const coding = codingOf(answer.headers);
  // A refusal that was looked at before may have ended already, if it was empty or cut off.
  if (coding === 'none' || coding === undefined || answer.closed) {
    if (coding === 'none') answer.on('data', add);
    if (answer.closed) end();
    else answer.once('close', end);
    return;
  }
  const decoder = coding.createReader();
  answer.on('data', (chunk: Buffer) => {
    if (decoder.writableLength > MAX_BUFFERED_BYTES) decoder.destroy();
    else if (!decoder.destroyed) decoder.write(chunk);
  });
  // Ends the decoder only after all writes were processed: of an answer that was cut off, the last bytes would be lost otherwise.
  answer.once('close', () => decoder.write('', () => decoder.end()));
  decoder.on('data', add);
  decoder.once('close', end);
  // Ignored here: the client gets the same bytes, and handles the error.
  decoder.on('error', () => decoder.destroy());
}

/** Extracts the events from Amazon Bedrock's frames, which contain them in Base64. */
class FrameReader {
  #text = '';

  /** Returns the events that have become complete, as lines. */
  add(chunk: Buffer): Buffer[] {
    const parts = (this.#text + chunk.toString('latin1')).split(/"bytes":"([A-Za-z\d+/=]+)"/);
    this.#text = (parts.at(-1) ?? '').slice(-MAX_TEXT);
    return parts
      .filter((_, at) => at % 2 === 1)
      .map((event) => Buffer.from(`${Buffer.from(event, 'base64').toString()}\n`));
  }
}

const LINE_FEED = 0x0a;
/** Common prefix of the keys `usage` and `usageMetadata`: chunks without it need no scan for usage. */
const USAGE = '"usage';
/** A fast check for chunks that may match `REFUSED_IN_STREAM`. */
const REFUSAL = 'context_length_exceeded';
/** A fast check for chunks that may match `SERVER_CALL`, as Anthropic's API writes it. */
const SERVER_TOOL_USE = '_tool_use"';
const NEEDLES = [USAGE, REFUSAL, SERVER_TOOL_USE];
/** The type of a call of a tool that the provider runs itself: no call that the client has to answer. */
const SERVER_CALL =
  /"type"\s*:\s*"(?:\w+_tool_use|(?!(?:function|custom_tool|tool|local_shell|shell|computer|apply_patch)_call)\w+_call)"/;

/** Finds the latest usage numbers, and a refusal, in a stream of text. */
export class UsageReader {
  readonly #isDocument: boolean;
  readonly #decoder = new StringDecoder('utf8');
  #text = '';
  #usage: Partial<AnsweredUsage> | undefined;
  #hasServerCalls = false;
  #isAtLineStart = true;
  #refusal: string | undefined;

  /** @param isDocument whether the text is one JSON value, which may span lines, instead of events with one line each */
  constructor(isDocument: boolean = false) {
    this.#isDocument = isDocument;
  }

  /** The text with which the provider refuses the prompt after the stream has begun; `undefined` if it does not. */
  get refusal(): string | undefined {
    return this.#refusal;
  }

  /** The end of the text so far. */
  get text(): string {
    return this.#text;
  }

  add(chunk: Buffer): void {
    if (!this.#isDocument) this.#addLines(chunk);
    else this.#text += this.#decoder.write(chunk);
    if (this.#text.length > MAX_TEXT) this.#text = this.#text.slice(-MAX_TEXT);
  }

  #addLines(chunk: Buffer): void {
    const isAtLineStart = this.#isAtLineStart;
    this.#isAtLineStart = chunk.at(-1) === LINE_FEED;
    // Fast path for nearly all chunks: whole lines without usage are neither decoded nor kept.
    const isWhole = isAtLineStart && this.#isAtLineStart;
    if (isWhole && !NEEDLES.some((needle) => chunk.includes(needle))) return;
    this.#text += this.#decoder.write(chunk);
    const lines = this.#text.lastIndexOf('\n');
    if (lines !== -1) {
      this.#scan(this.#text.slice(0, lines));
      this.#text = this.#text.slice(lines + 1);
    }
  }

  end(): AnsweredUsage | undefined {
    this.#scan(this.#text);
    if (this.#usage === undefined) return undefined;
    const {
      inputTokens = 0,
      cacheReadTokens = 0,
      cacheWriteTokens = 0,
      outputTokens = 0,
    } = this.#usage;
    const usage = { inputTokens, cacheReadTokens, cacheWriteTokens, outputTokens };
    return this.#hasServerCalls ? { ...usage, isSum: true } : usage;
  }

  #scan(text: string): void {
    this.#refusal ??= REFUSED_IN_STREAM.exec(text)?.[0];
    this.#hasServerCalls ||= SERVER_CALL.test(text);
    for (const key of ['"usage"', '"usageMetadata"']) {
      for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
        // An escaped quote means that the match is within a text of the model.
        if (text[at - 1] === '\\') continue;
        const usage = asRecord(objectAt(text, at + key.length));
        if (usage !== undefined) this.#usage = { ...this.#usage, ...readUsage(usage) };
      }
    }
  }
}

const MAX_USAGE_LENGTH = 8_192;

/** Parses the object after a colon. Strings in usage reports contain no brackets. */
function objectAt(text: string, from: number): unknown {
  const start = text.indexOf('{', from);
  if (start === -1 || !/^\s*:\s*$/.test(text.slice(from, start))) return undefined;
  let depth = 0;
  const last = Math.min(text.length, start + MAX_USAGE_LENGTH);
  for (let at = start; at < last; at += 1) {
    if (text[at] === '{') depth += 1;
    else if (text[at] === '}') depth -= 1;
    if (depth === 0) return tryParseJson(text.slice(start, at + 1));
  }
  return undefined;
}

/** Returns the valid numbers of a report. Missing and invalid ones do not change earlier numbers. */
function readUsage(usage: JsonRecord): Partial<AnsweredUsage> {
  const { total, fresh, read, written, output } = usageNumbers(usage);
  const report = {
    inputTokens: total === undefined ? fresh : Math.max(0, total - (read ?? 0) - (written ?? 0)),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: output,
  };
  return Object.fromEntries(
    Object.entries(report).filter(([, value = -1]) => value >= 0 && value < Infinity),
  );
}
