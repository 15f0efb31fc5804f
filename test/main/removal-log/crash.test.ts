// Nothing acknowledged is lost when the process is killed, or its file may not grow. CTXFOLD_CRASH_ROUNDS sets how many are killed.

import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { compileTranscript } from './compiled-sources.js';
import { tryParseJson } from '../../../src/shared/json.js';
import { PLAYS_ALL } from '../../support/scale.js';
import { draft, openWriter, recover, temporaryPath } from './recording.js';

const ROUNDS = Number(process.env['CTXFOLD_CRASH_ROUNDS'] ?? (PLAYS_ALL ? 10 : 3));
const MAX_LIFE_MS = 40;
/** Alternates: many small batches, and few that take so long to write that they are torn. */
const MAX_RECORD_BYTES = [20_000, 1_500_000] as const;
const FILE_LIMIT_BYTES = 64 * 1024;
const PROGRAM = fileURLToPath(new URL('./writing-process.mjs', import.meta.url));

const NAMESPACES = ['--user', '--map-root-user', '--mount'];
const CAN_MOUNT = spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;

interface Writing {
  readonly child: ChildProcess;
  /** All printed lines. */
  readonly printed: Promise<readonly string[]>;
}

function startWriting(command: string, args: readonly string[]): Writing {
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const printed = readText(child.stdout).then((text) => text.split('\n').slice(0, -1));
  return { child, printed };
}

describe('RemovalLog', () => {
  test(
    `loses nothing acknowledged when ${ROUNDS} processes are killed while writing`,
    { timeout: 60_000 + ROUNDS * 12_000 },
    async () => {
      const path = temporaryPath();
      const modulePath = await compileTranscript(dirname(path));
      const acknowledged = new Set<number>();
      for (let round = 0; round < ROUNDS; round += 1) {
        const first = `${round * 1_000_000}`;
        const maxBytes = `${MAX_RECORD_BYTES[round % 2]}`;
        const args = [PROGRAM, modulePath, path, first, maxBytes];
        const { child, printed } = startWriting(process.execPath, args);
        const exited = once(child, 'exit');
        if (child.stdout !== null) await once(child.stdout, 'data');
        await delay(Math.random() * MAX_LIFE_MS);
        child.kill('SIGKILL');
        await exited;
        const lines = await printed;
        // Each round takes over the lock of a dead process and appends behind its torn tail.
        expect(lines.length).toBeGreaterThan(0);
        for (const line of lines) acknowledged.add(Number(line));
      }
      const writer = await openWriter(path);
      await writer.append([draft('after', 1)]);
      const { records, texts, skipped } = await recover(path);
      const recovered = new Set(records.slice(0, -1).map(({ index }) => index));
      expect([...acknowledged].filter((number) => !recovered.has(number))).toEqual([]);
      expect(texts.at(-1)).toBe('after');
      expect(
        texts.slice(0, -1).every((text, at) => text.startsWith(`${records[at]?.index}:`)),
      ).toBe(true);
      expect(new Set(records.map(({ seq }) => seq)).size).toBe(records.length);
      expect(skipped.filter(({ reason }) => reason !== 'torn')).toEqual([]);
      expect(skipped.length).toBeLessThanOrEqual(ROUNDS);
    },
  );

  test('survives a limit on the size of its file', async () => {
    const path = temporaryPath();
    const modulePath = await compileTranscript(dirname(path));
    const limited = `ulimit -f ${FILE_LIMIT_BYTES / 1024}; exec "$0" "$@"`;
    const args = ['-c', limited, process.execPath, PROGRAM, modulePath, path, '0', '3000'];
    const lines = await startWriting('bash', args).printed;
    expect(lines.at(-1)).toBe('REMOVAL_LOG_WRITE_FAILED EFBIG');
    // The last write was cut short, so the file ends inside a record, or by chance behind one.
    const written = await readFile(path, 'utf8');
    expect(written).toHaveLength(FILE_LIMIT_BYTES);
    const isTorn = tryParseJson(written.trimEnd().split('\n').at(-1) ?? '') === undefined;
    const writer = await openWriter(path);
    await writer.append([draft('after')]);
    const { texts, skipped, records } = await recover(path);
    expect(records.map(({ index }) => `${index}`)).toEqual(
      expect.arrayContaining(lines.slice(0, -1)),
    );
    expect(texts.at(-1)).toBe('after');
    expect(skipped.map(({ reason }) => reason)).toEqual(isTorn ? ['torn'] : []);
  });

  test.skipIf(!CAN_MOUNT || !PLAYS_ALL)('survives a full disk', async () => {
    const path = temporaryPath();
    const modulePath = await compileTranscript(dirname(path));
    const disk = `${path}.disk`;
    await mkdir(disk);
    // The disk exists in the namespace of this child only; its content is copied out in the end.
    const onDisk =
      'mount -t tmpfs -o size=64k none "$5"; "$0" "$1" "$2" "$5/t" 0 3000; cp "$5/t" "$3"';
    const args = [PROGRAM, modulePath, path, '', disk];
    const lines = await startWriting('unshare', [
      ...NAMESPACES,
      'bash',
      '-c',
      onDisk,
      process.execPath,
      ...args,
    ]).printed;
    expect(lines.at(-1)).toBe('REMOVAL_LOG_WRITE_FAILED ENOSPC');
    expect(lines.length).toBeGreaterThan(2);
    const writer = await openWriter(path);
    await writer.append([draft('after')]);
    const { texts, records } = await recover(path);
    expect(records.map(({ index }) => `${index}`)).toEqual(
      expect.arrayContaining(lines.slice(0, -1)),
    );
    expect(texts.at(-1)).toBe('after');
  });
});
