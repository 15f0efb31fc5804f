// Damages recorded sessions at random: reading must end with a valid history or one of two errors.

import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordingOf } from '../../../bench/scaling/recordings.js';
import { readTranscript } from '../../../src/main/formats/read-transcript.js';
import type { IContent } from '../../../src/shared/content.js';
import { CtxfoldError } from '../../../src/shared/errors.js';
import { TRANSCRIPT_FORMATS, type TranscriptFormat } from '../../../src/main/formats/transcript.js';
import { pairingFaults, readChunks, type Reading } from './reading.js';
import { runs } from '../../support/scale.js';
import { arbitraryRatio } from '../../support/arbitrary-ratio.js';

const FIXTURES = new URL('../../fixtures/transcripts/', import.meta.url);

/** The records of a fixture, or the messages of its document, at most 60 of them. */
function recordsOf(file: string): unknown[] {
  const text = readFileSync(new URL(file, FIXTURES), 'utf8');
  if (file.endsWith('.jsonl')) {
    return text
      .trim()
      .split('\n')
      .slice(0, 60)
      .map((line) => JSON.parse(line) as unknown);
  }
  const document = JSON.parse(text) as { messages?: unknown[]; history?: unknown[] };
  return (document.messages ?? document.history ?? []).slice(0, 60);
}

const HISTORY = await readTranscript(
  fileURLToPath(new URL('mini-swe-agent/pydata__xarray-7229.traj.json', FIXTURES)),
);

function recordsOfSdk(entries: readonly IContent[]): unknown[] {
  return JSON.parse(recordingOf(entries.slice(0, 60), 'ai-sdk')) as unknown[];
}

const SESSIONS: readonly (readonly [TranscriptFormat, unknown[]])[] = [
  ['claude-code', recordsOf('claude-code/0ccf1a04-session.jsonl')],
  ['codex', recordsOf('codex/jdx-mise__71-b56c467073-0.jsonl').slice(3)],
  ['gemini-cli', recordsOf('gemini-cli/session-2025-12-30T06-53-7bc58f7d.json')],
  ['openai-chat', recordsOf('openai-chat/openhands-sampled__python__mypy-15976_0.json')],
  [
    'openai-chat',
    recordsOf('openai-chat/swe-smith__arrow-py__arrow.1d70d009.lm_rewrite__nuzjfyur.json'),
  ],
  ['swe-agent', recordsOf('swe-agent/crypto__BabyEncryption.traj')],
  ['swe-agent', recordsOf('swe-agent/marshmallow-1867-function-calling.traj')],
  ['mini-swe-agent', recordsOf('mini-swe-agent/pydata__xarray-7229.traj.json')],
  ['cline', recordsOf('cline/session.messages.json')],
  ['ai-sdk', recordsOfSdk(HISTORY.entries)],
];

const session = fc.constantFrom(...SESSIONS);

function textOf(format: TranscriptFormat, records: readonly unknown[]): string {
  if (format === 'claude-code' || format === 'codex') {
    return records.map((record) => `${JSON.stringify(record)}\n`).join('');
  }
  return JSON.stringify({ [format === 'swe-agent' ? 'history' : 'messages']: records });
}

async function expectSound(reading: Promise<Reading>): Promise<void> {
  try {
    expect(pairingFaults((await reading).entries)).toEqual([]);
  } catch (error) {
    if (!(error instanceof CtxfoldError)) throw error;
    expect(['UNKNOWN_FORMAT', 'UNREADABLE_TRANSCRIPT']).toContain(error.code);
  }
}

type Path = readonly (string | number)[];

/** Every place in a value, objects and arrays included. */
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  return [path, ...Object.entries(value).flatMap(([key, field]) => pathsOf(field, [...path, key]))];
}

/** A copy of `value` with `replacement` at `path`, or without that place when `replacement` is undefined. */
function replaced(value: unknown, path: Path, replacement: unknown): unknown {
  const [key, ...rest] = path;
  if (key === undefined) return replacement;
  const fields = Object.entries(value as object).flatMap(([name, field]: [string, unknown]) => {
    const replacedField = name === key ? replaced(field, rest, replacement) : field;
    return replacedField === undefined ? [] : ([[name, replacedField]] as const);
  });
  if (Array.isArray(value)) return fields.map(([, field]) => field);
  return Object.fromEntries(fields);
}

const hostile: fc.Arbitrary<unknown> = fc.oneof(
  fc.constantFrom<unknown>(null, true, 0, -1, 1e308, '', '\uD800', [], {}, [null], [[]], undefined),
  fc.constant(JSON.parse('{"__proto__":{"type":"text"},"constructor":1}') as unknown),
  fc.constantFrom('user', 'assistant', 'tool', 'tool_use', 'tool_result', 'text', 'function_call'),
  fc.jsonValue(),
);

describe('streamTranscript', () => {
  it('survives lost, repeated and reordered records', async () => {
    await fc.assert(
      fc.asyncProperty(
        session.chain(([format, records]) =>
          fc.tuple(
            fc.constant(format),
            fc.array(fc.constantFrom(...records), { maxLength: 80, size: 'max' }),
          ),
        ),
        fc.boolean(),
        ([format, records], isNamed) =>
          expectSound(readChunks([textOf(format, records)], isNamed ? format : undefined)),
      ),
      { numRuns: runs(200) },
    );
  });

  it('survives fields of any type, or none', async () => {
    await fc.assert(
      fc.asyncProperty(
        session,
        fc.array(fc.tuple(fc.nat(), fc.nat(), hostile), { minLength: 1, maxLength: 12 }),
        ([format, records], damages) => {
          const damaged = [...records];
          for (const [which, where, replacement] of damages) {
            const index = which % damaged.length;
            const paths = pathsOf(damaged[index]);
            damaged[index] = replaced(
              damaged[index],
              paths[where % paths.length] ?? [],
              replacement,
            );
          }
          return expectSound(readChunks([textOf(format, damaged)], format));
        },
      ),
      { numRuns: runs(400) },
    );
  });

  it('survives bytes that are cut off, inserted, overwritten and removed', async () => {
    const bytes = SESSIONS.map(
      ([format, records]) => [format, Buffer.from(textOf(format, records))] as const,
    );
    const damage = fc.record({
      at: arbitraryRatio(),
      inserted: fc.uint8Array({ maxLength: 12 }),
      removed: fc.oneof(fc.nat(20), fc.nat(5000)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...bytes),
        fc.array(damage, { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        ([format, whole], damages, isNamed) => {
          let damaged: Uint8Array = whole;
          for (const { at, inserted, removed } of damages) {
            const start = Math.floor(at * damaged.length);
            damaged = Buffer.concat([
              damaged.subarray(0, start),
              inserted,
              damaged.subarray(start + removed),
            ]);
          }
          return expectSound(readChunks([damaged], isNamed ? format : undefined));
        },
      ),
      { numRuns: runs(300) },
    );
  });

  it('survives any text and any JSON, as any format', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.array(fc.json()).map((lines) => lines.join('\n')),
        ),
        fc.constantFrom(undefined, ...TRANSCRIPT_FORMATS),
        (text, format) => expectSound(readChunks([text], format)),
      ),
      { numRuns: runs(400) },
    );
  });
});
