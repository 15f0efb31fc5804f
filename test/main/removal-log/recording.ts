// Shared by the tests of the transcript: a temporary directory, drafts, reading, and files that fail.

import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openAppendFile } from '../../../src/main/removal-log/append-file.js';
import { readRemovals } from '../../../src/main/removal-log/removal-reader.js';
import type {
  ReadRemovalsOptions,
  SkippedBytes,
} from '../../../src/main/removal-log/removal-reader.js';
import { encodeRemoval } from '../../../src/main/removal-log/removal-record.js';
import type { RemovalDraft, RemovalRecord } from '../../../src/main/removal-log/removal-record.js';
import { RemovalLog } from '../../../src/main/removal-log/removal-log.js';
import type { RemovalLogOptions } from '../../../src/main/removal-log/removal-log.js';
import { humanText } from '../../../src/shared/content.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

/** The path of a file in a new directory, which is removed when the test ends. */
export function temporaryPath(name = 'transcript.jsonl'): string {
  return join(temporaryFolder(), name);
}

/** A removed text. */
export function draft(text: string, index = 0): RemovalDraft {
  return { sessionId: 's', kind: 'removed', index, entry: humanText(text) };
}

/** The lines of records that hold these texts, numbered from 0. */
export function lines(...texts: readonly string[]): string[] {
  return texts.map((text, seq) => encodeRemoval(draft(text), seq, 1).line);
}

/** A writer that is closed when the test ends. */
export async function openWriter(
  path: string,
  options: RemovalLogOptions = {},
): Promise<RemovalLog> {
  const writer = await RemovalLog.open(path, options);
  onTestFinished(() => writer.close());
  return writer;
}

export interface Recovered {
  readonly records: readonly RemovalRecord[];
  /** The first text of each record. */
  readonly texts: readonly string[];
  readonly skipped: readonly SkippedBytes[];
}

export async function recover(path: string, options: ReadRemovalsOptions = {}): Promise<Recovered> {
  const reading = readRemovals(path, options);
  const records: RemovalRecord[] = [];
  for await (const { record } of reading) records.push(record);
  return { records, texts: records.map(textOf), skipped: reading.skipped };
}

function textOf({ entry }: RemovalRecord): string {
  const [block] = entry.blocks;
  return block?.type === 'text' ? block.text : '';
}

/** An error like those of the system. */
export function systemError(code: string): Error {
  return Object.assign(new Error(`${code}: made up`), { code, syscall: 'write' });
}

/** Replacements of operations on a file, given the real one and its arguments. */
export type FileFaults = {
  readonly [Operation in 'stat' | 'read' | 'write' | 'datasync' | 'close']?: (
    file: FileHandle,
    bytes: Buffer,
    options: { readonly position: number },
  ) => unknown;
};

/** Opens the real file, with some operations replaced. */
export function openWith(faults: FileFaults): (path: string) => Promise<FileHandle> {
  return async (path) =>
    new Proxy(await openAppendFile(path), {
      get: (file, name) => {
        const fault = faults[name as keyof FileFaults];
        if (fault !== undefined)
          return async (...given: [Buffer, { position: number }]) => fault(file, ...given);
        const real: unknown = Reflect.get(file, name);
        return typeof real === 'function' ? (real.bind(file) as unknown) : real;
      },
    });
}

/** A promise and a function that resolves it. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => undefined;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
