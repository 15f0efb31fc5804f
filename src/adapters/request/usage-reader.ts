// Finds the usage that a provider reports, or its refusal, in the text of an answer while that arrives: a JSON document, or a stream of
// events. Parses nothing else of the answer, and ignores what it cannot read.

import { REFUSED_IN_STREAM } from '../../main/models/model-limits.js';
import { asRecord, asText, tryParseJson, withoutUndefined } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { usageNumbers } from './provider-usage.js';
import type { UsageNumbers } from './provider-usage.js';

/** How much of the end of a document or an event is searched, in UTF-16 units: providers put the usage at the end. */
const MAX_TEXT = 64 * 1024;
const MAX_USAGE_LENGTH = 8_192;
const LINE_FEED = 0x0a;
/** The last line of a stream of OpenAI's API. */
const DONE = /^data:\s*\[DONE\]/;
/** An event of the Chat Completions API. Some servers repeat the usage so far in each. */
const CHAT_EVENT = /"choices"\s*:/;
/** The type of a call of a tool that the provider runs itself: no call that the client has to answer. */
const SERVER_CALL =
  /"type"\s*:\s*"(?:\w+_tool_use|(?!(?:function|custom_tool|tool|local_shell|shell|computer|apply_patch)_call)\w+_call)"/;
/**
 * What a line with usage, the end of a stream, a refusal or (as Anthropic's API writes it) a `SERVER_CALL` contains: a fast check for
 * chunks. `"usage` is the common prefix of the keys `usage` and `usageMetadata`.
 */
const NEEDLES = ['"usage', '[DONE]', 'context_length_exceeded', '_tool_use"'];

/** Reads one answer. */
export class UsageReader {
  /** The latest numbers so far; where they are missing, the ones before. */
  usage: UsageNumbers | undefined;
  /** The reason that the provider gives for a cache miss. */
  missReason: string | undefined;
  /** Whether the numbers are sums over several requests, because the provider ran tools itself. */
  hasServerCalls: boolean = false;
  /** The text with which the provider refuses the prompt after the stream has begun. */
  refusal: string | undefined;
  /** The end of the text so far. */
  text: string = '';
  readonly #isDocument: boolean;
  readonly #onKnown: () => void;
  readonly #decoder = new TextDecoder();
  #isAtLineStart = true;
  #isKnown = false;

  /**
   * @param isDocument whether the text is one JSON value, which may span lines, instead of events with one line each
   * @param onKnown called once the usage of the prompt, or a refusal, is known: the reader of a stream may stop before its end
   */
  constructor(isDocument: boolean = false, onKnown: () => void = () => undefined) {
    this.#isDocument = isDocument;
    this.#onKnown = onKnown;
  }

  add(chunk: Buffer): void {
    if (!this.#isDocument) this.#addLines(chunk);
    else this.text += this.#decoder.decode(chunk, { stream: true });
    if (this.text.length <= MAX_TEXT) return;
    this.hasServerCalls ||= SERVER_CALL.test(this.text);
    this.text = this.text.slice(-MAX_TEXT);
  }

  /** Ends the answer, or what there is of one that was cut off. */
  end(): void {
    this.#scan(this.text);
    this.#noteKnown();
  }

  #addLines(chunk: Buffer): void {
    const isAtLineStart = this.#isAtLineStart;
    this.#isAtLineStart = chunk.at(-1) === LINE_FEED;
    // Fast path for nearly all chunks: whole lines without usage are neither decoded nor kept.
    const isWhole = isAtLineStart && this.#isAtLineStart;
    if (isWhole && !NEEDLES.some((needle) => chunk.includes(needle))) return;
    const lines = (this.text + this.#decoder.decode(chunk, { stream: true })).split('\n');
    this.text = lines.pop() ?? '';
    for (const line of lines) {
      const hasUsage = this.#scan(line);
      const isOver = this.refusal !== undefined || DONE.test(line);
      if (isOver || (hasUsage && !CHAT_EVENT.test(line))) this.#noteKnown();
    }
  }

  #noteKnown(): void {
    if (this.#isKnown || (this.usage ?? this.refusal) === undefined) return;
    this.#isKnown = true;
    this.#onKnown();
  }

  /** Reads a line, or the end of a document. Returns whether it has usage. */
  #scan(text: string): boolean {
    this.refusal ??= REFUSED_IN_STREAM.exec(text)?.[0];
    this.hasServerCalls ||= SERVER_CALL.test(text);
    const found = [...objectsAt(text, 'usage'), ...objectsAt(text, 'usageMetadata')]
      .map((usage) => withoutUndefined(usageNumbers(usage)))
      // All events of Vertex AI but the last name only the kind of traffic.
      .filter((numbers) => Object.keys(numbers).length > 0);
    for (const numbers of found) this.usage = { ...this.usage, ...numbers };
    if (found.length === 0) return false;
    const [diagnostics] = objectsAt(text, 'prompt_cache_diagnostics');
    const [miss] = objectsAt(text, 'cache_miss_reason');
    this.missReason = asText(diagnostics?.['reason']) ?? asText(miss?.['type']);
    return true;
  }
}

/** Parses the objects under a key, at any depth. */
function objectsAt(text: string, name: string): readonly JsonRecord[] {
  const key = `"${name}"`;
  const objects: JsonRecord[] = [];
  for (let at = text.indexOf(key); at !== -1; at = text.indexOf(key, at + key.length)) {
    // An escaped quote means that the match is within a text of the model.
    const found = text[at - 1] === '\\' ? undefined : asRecord(objectAt(text, at + key.length));
    if (found !== undefined) objects.push(found);
  }
  return objects;
}

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
