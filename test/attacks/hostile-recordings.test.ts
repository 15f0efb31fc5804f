// Hostile JSON in every field of recorded sessions of every agent, and in profiles. Each would have aborted reading with a
// TypeError, made entries that no session accepts, or blocked a thread for minutes.

import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { loadProfile } from '../../src/settings.js';
import type { TranscriptFormat } from '../../src/main/formats/transcript.js';
import { assertIngestible } from '../../src/shared/ingestion.js';
import { CtxfoldError } from '../../src/shared/errors.js';
import { pairingFaults, readChunks } from '../main/formats/reading.js';
import { HOSTILE_VALUES, placesOf, withValueAt } from '../support/hostile-values.js';
import { runs } from '../support/scale.js';
import { spread, describeError } from './refusals.js';

const FIXTURES = new URL('../fixtures/transcripts/', import.meta.url);

const FILES: readonly (readonly [TranscriptFormat, string])[] = [
  ['claude-code', 'claude-code/0ccf1a04-session.jsonl'],
  ['codex', 'codex/jdx-mise__71-b56c467073-0.jsonl'],
  ['gemini-cli', 'gemini-cli/session-2025-12-30T06-53-7bc58f7d.json'],
  ['openai-chat', 'openai-chat/openhands-sampled__python__mypy-15976_0.json'],
  ['swe-agent', 'swe-agent/marshmallow-1867-function-calling.traj'],
  ['mini-swe-agent', 'mini-swe-agent/pydata__xarray-7229.traj.json'],
  ['cline', 'cline/session.messages.json'],
];

/** JSON texts that no sample value serializes to. */
const RAW: readonly (readonly [name: string, json: string])[] = [
  ['a number beyond all', '1e999'],
  ['a number below all', '-1e999'],
  ['minus nothing', '-0'],
  ['a hundred thousand lists', `${'['.repeat(100_000)}${']'.repeat(100_000)}`],
  ['a hundred thousand objects', `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`],
  ['a prototype', '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":1}}}'],
  ['a key twice', '{"type":"text","type":["tool_use"]}'],
  ['an escaped NUL', '"a\\u0000b"'],
  ['a raw line break', '"a\nb"'],
  ['no value', ''],
];

const MARK = 'the place of the attack';

const JSON_VALUES: readonly (readonly [name: string, json: string])[] = HOSTILE_VALUES.flatMap(
  ({ name, make }) => {
    try {
      const json = JSON.stringify(make()) as string | undefined;
      return json === undefined ? [] : [[name, json] as const];
    } catch {
      return [];
    }
  },
);

/** The text of a recording with at most eight records, with the marker at each place in turn. */
function attacksOn(format: TranscriptFormat, file: string): readonly string[] {
  const whole = readFileSync(new URL(file, FIXTURES), 'utf8');
  if (file.endsWith('.jsonl')) {
    const lines = whole.trim().split('\n').slice(0, 30);
    return lines.flatMap((line, at) =>
      placesOf(JSON.parse(line)).map((place) => {
        const marked = JSON.stringify(withValueAt(JSON.parse(line), place, MARK));
        return lines.with(at, marked).join('\n');
      }),
    );
  }
  const key = format === 'swe-agent' ? 'history' : 'messages';
  const document = JSON.parse(whole) as Record<string, unknown>;
  const messages = (document[key] as unknown[]).slice(0, 8);
  const short = JSON.stringify({ ...document, trajectory: undefined, [key]: messages });
  return placesOf(JSON.parse(short)).map((place) =>
    JSON.stringify(withValueAt(JSON.parse(short), place, MARK)),
  );
}

/** Reads a recording to its end, or to a documented error. */
async function assertSound(name: string, text: string, format?: TranscriptFormat): Promise<void> {
  try {
    const { entries } = await readChunks([text], format);
    expect(pairingFaults(entries), name).toEqual([]);
    entries.forEach((entry, at) => {
      assertIngestible(entry, at);
    });
  } catch (error) {
    const isMeant = error instanceof CtxfoldError;
    expect(isMeant, `${name}: ${describeError(error)}`).toBe(true);
  }
}

describe('readTranscript', () => {
  it.each(FILES)(
    'reads or refuses recordings of %s with anything anywhere',
    async (format, file) => {
      const values = [...RAW, ...JSON_VALUES];
      const attacks = attacksOn(format, file).flatMap((text) =>
        values.map(([name, json]) => [name, text, json] as const),
      );
      for (const [name, text, json] of spread(attacks, runs(2_000, 60))) {
        const attacked = text.replace(`"${MARK}"`, () => json);
        await assertSound(name, attacked, format);
      }
      expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    },
  );

  it('omits values that are too large for an entry, and says so', async () => {
    const message = (content: unknown): string =>
      JSON.stringify({ messages: [{ role: 'user', content: 'x' }, content] });
    const huge = 'x'.repeat(9_000_000);
    const called = {
      role: 'assistant',
      content: 'I call.',
      tool_calls: [{ id: 'c', function: { name: 'look', arguments: JSON.stringify({ huge }) } }],
    };
    for (const [text, left] of [
      [message({ role: 'user', content: huge }), '[too large]'],
      [message(called), '"parameters":{"huge":"[too large]"}'],
    ] as const) {
      const { entries, warnings } = await readChunks([text], 'openai-chat');
      expect(JSON.stringify(entries)).toContain(left);
      expect(warnings.map((warning) => warning.message)).toContain(
        'values that no entry has room for left out: 1',
      );
      entries.forEach((entry, at) => {
        assertIngestible(entry, at);
      });
    }
  });

  it('returns no number that JSON cannot represent', async () => {
    const call =
      '{"id":"c","function":{"name":"look","arguments":{"most":1e999,"least":[-1e999]}}}';
    const message = `{"role":"assistant","content":"I call.","tool_calls":[${call}]}`;
    const { entries, warnings } = await readChunks([`{"messages":[${message}]}`], 'openai-chat');
    expect(entries[0]?.blocks.at(-1)).toMatchObject({ parameters: { most: null, least: [null] } });
    expect(warnings.at(-1)?.message).toBe('numbers that JSON cannot hold replaced by null: 2');
  });

  it('does not take minutes for white space', async () => {
    for (const white of ['\n', '\r\n', ' ', '\0', '\ufeff', '\n \t\0']) {
      await assertSound('white space', white.repeat(300_000));
      await assertSound('white space', `${white.repeat(300_000)}x`);
    }
  });
});

describe('loadProfile', () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'ctxfold-profile-'));
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));

  const KEYS = [
    'compression.strategy',
    'compression.threshold',
    'compression.profile',
    'compression.density.recencyRetention',
    'compression.density.excludeTools',
    '__proto__',
    'constructor',
  ];

  it('returns settings or names the unusable profile, whatever it contains', async () => {
    const file = path.join(folder, 'profile.json');
    const values = [...RAW, ...JSON_VALUES];
    const texts = values.flatMap(([name, json]) => [
      [name, json] as const,
      ...KEYS.map((key) => [`${name} as ${key}`, `{${JSON.stringify(key)}:${json}}`] as const),
    ]);
    for (const [name, text] of spread(texts, runs(900, 50))) {
      await writeFile(file, text);
      try {
        expect(Object.getPrototypeOf(await loadProfile(file)), name).toBe(Object.prototype);
      } catch (error) {
        expect(error, `${name}: ${describeError(error)}`).toMatchObject({
          code: 'PROFILE_UNREADABLE',
        });
        const { cause } = error as Error;
        const isAccident = /Cannot read|is not a function|is not iterable/.test(String(cause));
        expect(isAccident, name).toBe(false);
      }
    }
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
  });
});
