// Reads the usage that a provider reports from a copy of its answer: a JSON document, a stream of events, or frames with events,
// compressed or not. Never delays the answer.

import type { IncomingMessage } from 'node:http';
import { REFUSED } from '../../adapters/conversation/editing-fetch.js';
import type { UsageNumbers } from '../../adapters/request/provider-usage.js';
import { UsageReader } from '../../adapters/request/usage-reader.js';
import type { AnsweredUsage } from '../engine/protocol.js';
import { codingOf } from './coding.js';

/** Limit for a frame, in bytes. */
const MAX_FRAME_BYTES = 64 * 1024;
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
    reader.end();
    onReport({ usage: answeredUsage(reader), refusal: isRefusal ? reader.text : reader.refusal });
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
    this.#text = (parts.at(-1) ?? '').slice(-MAX_FRAME_BYTES);
    return parts
      .filter((_, at) => at % 2 === 1)
      .map((event) => Buffer.from(`${Buffer.from(event, 'base64').toString()}\n`));
  }
}

/** Returns the usage that a reader has found. Numbers that are invalid count as missing. */
export function answeredUsage({ usage, hasServerCalls }: UsageReader): AnsweredUsage | undefined {
  if (usage === undefined) return undefined;
  const valid = Object.entries(usage).filter(([, count]) => count >= 0 && count < Infinity);
  const numbers: UsageNumbers = Object.fromEntries(valid);
  const { total, fresh = 0, read = 0, written = 0, output = 0 } = numbers;
  return {
    inputTokens: total === undefined ? fresh : Math.max(0, total - read - written),
    cacheReadTokens: read,
    cacheWriteTokens: written,
    outputTokens: output,
    ...(hasServerCalls && { isSum: true }),
  };
}
