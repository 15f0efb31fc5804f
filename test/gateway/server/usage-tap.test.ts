import fc from 'fast-check';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import * as zlib from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { UsageReader } from '../../../src/adapters/request/usage-reader.js';
import { answeredUsage, tapUsage } from '../../../src/gateway/server/usage-tap.js';
import type { TapReport } from '../../../src/gateway/server/usage-tap.js';
import { runs } from '../../support/scale.js';

const FAKE = JSON.stringify('a text that says "usage": {"input_tokens": 999}');

const ANSWERS: readonly (readonly [name: string, text: string, usage: object | undefined])[] = [
  [
    'anthropic, a stream',
    `event: message_start\ndata: {"type":"message_start","message":{"usage":{"input_tokens":3,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"cache_creation":{"a":1},"output_tokens":1}}}\n\nevent: content_block_delta\ndata: {"delta":{"text":${FAKE}}}\n\nevent: message_delta\ndata: {"type":"message_delta","usage":{"output_tokens":42}}\n\n`,
    { inputTokens: 3, cacheWriteTokens: 5, cacheReadTokens: 7, outputTokens: 42 },
  ],
  [
    'anthropic, a document',
    `{"content":[{"type":"text","text":${FAKE}}],"usage":{"input_tokens":3,"cache_read_input_tokens":7,"output_tokens":4}}`,
    { inputTokens: 3, cacheWriteTokens: 0, cacheReadTokens: 7, outputTokens: 4 },
  ],
  [
    'chat',
    `data: {"choices":[{"delta":{"content":${FAKE}}}],"usage":null}\n\ndata: {"choices":[],"usage":{"prompt_tokens":100,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":64}}}\n\ndata: [DONE]\n\n`,
    { inputTokens: 36, cacheWriteTokens: 0, cacheReadTokens: 64, outputTokens: 9 },
  ],
  [
    'responses',
    `data: {"type":"response.completed","response":{"output":[{"text":${FAKE}}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":2}},"user":null}}\n\n`,
    { inputTokens: 40, cacheWriteTokens: 0, cacheReadTokens: 60, outputTokens: 8 },
  ],
  [
    'gemini',
    `data: {"candidates":[],"usageMetadata":{"promptTokenCount":50,"cachedContentTokenCount":20,"candidatesTokenCount":5}}\r\n\r\n`,
    { inputTokens: 30, cacheWriteTokens: 0, cacheReadTokens: 20, outputTokens: 5 },
  ],
  [
    'a sum over several requests, where Anthropic ran a tool',
    `data: {"type":"message_start","message":{"usage":{"input_tokens":3,"output_tokens":1}}}\n\ndata: {"type":"content_block_start","content_block":{"type":"server_tool_use","name":"web_search"}}\n\ndata: {"type":"message_delta","usage":{"input_tokens":90,"output_tokens":42,"server_tool_use":{"web_search_requests":2}}}\n\n`,
    { inputTokens: 90, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 42, isSum: true },
  ],
  [
    'a sum, where OpenAI ran a tool',
    `data: {"type":"response.completed","response":{"output":[{"type":"web_search_call"}],"usage":{"input_tokens":100,"input_tokens_details":{"cached_tokens":60},"output_tokens":8}}}\n\n`,
    { inputTokens: 40, cacheWriteTokens: 0, cacheReadTokens: 60, outputTokens: 8, isSum: true },
  ],
  [
    'calls that the client answers',
    `{"output":[{"type":"function_call"},{"type":"apply_patch_call"}],"content":[{"type":"tool_use"}],"usage":{"prompt_tokens":100}}`,
    { inputTokens: 100, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 0 },
  ],
  [
    'numbers that are none',
    `{"usage":{"input_tokens":3,"cache_read_input_tokens":1e999,"output_tokens":-1}}`,
    { inputTokens: 3, cacheWriteTokens: 0, cacheReadTokens: 0, outputTokens: 0 },
  ],
  ['nothing', `{"error":{"message":${FAKE}}}`, undefined],
  ['what is cut off', '{"usage":{"input_tokens":3', undefined],
];

const ended = (reader: UsageReader): ReturnType<typeof answeredUsage> => {
  reader.end();
  return answeredUsage(reader);
};

describe('answeredUsage', () => {
  it.each(ANSWERS)('reads %s, however it is split', (_, text, usage) => {
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 8 }), (cuts) => {
        const reader = new UsageReader();
        let from = 0;
        for (const cut of [...cuts.sort((a, b) => a - b), bytes.length]) {
          reader.add(bytes.subarray(from, cut));
          from = cut;
        }
        expect(ended(reader)).toEqual(usage);
      }),
      { numRuns: runs(1_000) },
    );
  });

  it('does not take an event of Vertex AI that names only the kind of traffic for the usage', () => {
    const known: unknown[] = [];
    const reader: UsageReader = new UsageReader(false, () => known.push(reader.usage));
    const trafficType = 'ON_DEMAND';
    for (const usageMetadata of [{ trafficType }, { trafficType, promptTokenCount: 50 }])
      reader.add(Buffer.from(`data: ${JSON.stringify({ usageMetadata })}\n\n`));
    expect(known).toEqual([{ total: 50 }]);
  });

  it('reads a document of many lines, however it is split', () => {
    const usageMetadata = { promptTokenCount: 50, candidatesTokenCount: 5 };
    const text = `${JSON.stringify({ candidates: [{ text: FAKE }], usageMetadata }, null, 2)}\n`;
    for (let cut = 0; cut <= text.length; cut += 1) {
      const reader = new UsageReader(true);
      reader.add(Buffer.from(text.slice(0, cut)));
      reader.add(Buffer.from(text.slice(cut)));
      expect(ended(reader)).toMatchObject({ inputTokens: 50, outputTokens: 5 });
      expect(reader.text).toBe(text);
    }
  });

  it('recognizes tools that the provider ran anywhere in a long document', () => {
    const reader = new UsageReader(true);
    reader.add(Buffer.from('{"output":[{"type":"web_search_call"},{"text":"'));
    for (let at = 0; at < 20; at += 1) reader.add(Buffer.alloc(10_000, 97));
    reader.add(Buffer.from('"}],"usage":{"prompt_tokens":3}}'));
    expect(ended(reader)).toMatchObject({ inputTokens: 3, isSum: true });
  });

  it('only buffers the end of a document', () => {
    const reader = new UsageReader();
    for (let at = 0; at < 200; at += 1) reader.add(Buffer.alloc(10_000, 97));
    reader.add(Buffer.from('","usage":{"input_tokens":3,"output_tokens":4}}'));
    expect(reader.text.length).toBeLessThanOrEqual(64 * 1024 + 100);
    expect(ended(reader)).toMatchObject({ inputTokens: 3, outputTokens: 4 });
  });
});

const { zstdCompressSync } = zlib as { zstdCompressSync?: (text: string) => Buffer };

describe('tapUsage', () => {
  const START = `data: {"message":{"usage":{"input_tokens":3,"cache_read_input_tokens":7}}}\n\n`;
  const USAGE = { inputTokens: 3, cacheReadTokens: 7, cacheWriteTokens: 0, outputTokens: 0 };

  /** Aborts an answer once all of it was read. */
  async function reportsOfCutOff(
    encoding: string,
    bytes: Buffer,
    type: string = 'text/event-stream',
  ): Promise<TapReport[]> {
    const headers = { 'content-encoding': encoding, 'content-type': type };
    const answer = Object.assign(new PassThrough(), { headers, statusCode: 200 });
    const reports: TapReport[] = [];
    tapUsage(answer as unknown as IncomingMessage, (report) => reports.push(report));
    for (const half of [bytes.subarray(0, bytes.length / 2), bytes.subarray(bytes.length / 2)]) {
      const read = once(answer, 'data');
      answer.write(half);
      await read;
    }
    answer.destroy();
    await expect.poll(() => reports.length).toBe(1);
    return reports;
  }

  it('reports the usage of an answer before it was aborted', async () => {
    const report = { usage: USAGE, refusal: undefined };
    expect(await reportsOfCutOff('identity', Buffer.from(START))).toEqual([report]);
    const flushed = zlib.gzipSync(START, { finishFlush: zlib.constants.Z_SYNC_FLUSH });
    expect(await reportsOfCutOff('gzip', flushed)).toEqual([report]);
  });

  it("reads Amazon's frames, wherever they are split", async () => {
    const [, text] = ANSWERS[0]!;
    const frames = text.match(/\{.*\}/g)!.map((event) => {
      const bytes = Buffer.from(event).toString('base64');
      return `\0\x01\xff:content-type\x07\0\x10application/json{"bytes":"${bytes}","p":"abc"}\xfe`;
    });
    const report = { usage: ANSWERS[0]![2], refusal: undefined };
    const type = 'application/vnd.amazon.eventstream';
    for (const before of [0, 1, 90, 200]) {
      const bytes = Buffer.from(`${'-'.repeat(before)}${frames.join('')}`, 'latin1');
      expect(await reportsOfCutOff('identity', bytes, type)).toEqual([report]);
    }
  });

  it.skipIf(zstdCompressSync === undefined)('reads zstd, if Node does', async () => {
    const report = { usage: USAGE, refusal: undefined };
    expect(await reportsOfCutOff('zstd', zstdCompressSync!(START))).toEqual([report]);
  });

  it.each(['zstd', 'constructor', '__proto__', 'gzip, br', 'GZIP'])(
    'reports the end of an unreadable answer: %s',
    async (encoding) => {
      const report = { usage: undefined, refusal: undefined };
      expect(await reportsOfCutOff(encoding, Buffer.from(START))).toEqual([report]);
    },
  );
});
