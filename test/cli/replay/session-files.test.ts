// The files that a command reads.

import { chmodSync, cpSync, linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, describe, expect, test, vi } from 'vitest';
import {
  findSessionFiles,
  readSession,
  unlessUnreadable,
} from '../../../src/cli/replay/session-files.js';
import { temporaryFolder } from '../../support/temporary-folder.js';

const SMALL = path.resolve('test/fixtures/transcripts/claude-code/0ccf1a04-subagent-a9cad17.jsonl');

const scratch = temporaryFolder(afterAll);

function scratchFile(name: string, content: string): string {
  const file = path.join(scratch, name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

describe('findSessionFiles', () => {
  test('lists the files of a folder and its subfolders once each, and no others', async () => {
    const folder = path.join(scratch, 'tree');
    cpSync(SMALL, path.join(folder, 'b/session.jsonl'));
    const first = scratchFile('tree/a.json', '{}');
    scratchFile('tree/.git/config', '');
    scratchFile('tree/node_modules/package.json', '{}');
    symlinkSync(folder, path.join(folder, 'c'));
    symlinkSync(first, path.join(folder, 'd.json'));
    symlinkSync(SMALL, path.join(folder, 'e.jsonl'));
    symlinkSync(path.join(folder, 'e.jsonl'), path.join(folder, 'f.jsonl'));
    symlinkSync(path.join(folder, 'nowhere'), path.join(folder, 'g.jsonl'));
    linkSync(first, path.join(folder, 'h.json'));
    expect(await findSessionFiles(folder)).toEqual({
      isFolder: true,
      files: ['a.json', 'b/session.jsonl', 'e.jsonl'].map((name) => path.join(folder, name)),
    });
  });

  test('treats any other path as one file', async () => {
    expect(await findSessionFiles(SMALL)).toEqual({ isFolder: false, files: [SMALL] });
    expect(await findSessionFiles('/nowhere')).toEqual({ isFolder: false, files: ['/nowhere'] });
    expect(await findSessionFiles('-')).toEqual({ isFolder: false, files: ['-'] });
  });

  test.skipIf(process.getuid?.() === 0)(
    'treats a folder that cannot be listed as one file, so that the error names it',
    async () => {
      const folder = path.join(scratch, 'closed');
      mkdirSync(folder);
      chmodSync(folder, 0);
      expect(await findSessionFiles(folder)).toEqual({ isFolder: false, files: [folder] });
      await expect(readSession(folder, {})).rejects.toThrow(`${folder} cannot be read: EACCES`);
      chmodSync(folder, 0o700);
    },
  );
});

describe('readSession', () => {
  test('shows no bar where there is no total, which would be full from its start', async () => {
    const begin = vi.fn(() => () => undefined);
    const progress = { begin, close: () => undefined };
    await expect(readSession(scratchFile('empty', ''), { progress })).rejects.toThrow(/empty/);
    expect(begin).not.toHaveBeenCalled();
    await readSession(SMALL, { progress });
    expect(begin.mock.calls).toEqual([[1, 'reading', 'MB']]);
  });

  test('says what a file looks like that has no entries in the given format', async () => {
    const looks = /^The transcript has no entries in the format \S+\. It looks like claude-code\./;
    // Of these, two find no records, and one finds no document.
    for (const format of ['codex', 'gemini-cli', 'openai-chat'] as const) {
      const reading = readSession(SMALL, { format });
      await expect(reading).rejects.toMatchObject({ code: 'UNKNOWN_FORMAT' });
      await expect(reading).rejects.toThrow(looks);
    }
    const blank = scratchFile('blank.jsonl', '\n');
    expect(await readSession(blank, { format: 'pi' })).toMatchObject({ entries: [] });
    await expect(readSession('/nowhere', { format: 'codex' })).rejects.toThrow(/ENOENT/);
    const begun = scratchFile('begun.jsonl', '{"type":"session_meta","payload":{}}\n');
    expect(await readSession(begun, { format: 'codex' })).toMatchObject({ entries: [] });
  });
});

describe('unlessUnreadable', () => {
  test('gives all binary files the same reason, by which a report groups them', async () => {
    const files = ['a.png', 'b.png'].map((name) => scratchFile(name, '\0\x01\x02'.repeat(99)));
    const outcomes = await Promise.all(
      files.map((file) => unlessUnreadable(file, undefined, () => readSession(file, {}))),
    );
    const reason = 'The transcript is no text file; give a transcript in JSON or JSON Lines.';
    expect(outcomes).toEqual(
      files.map((file) => ({ file, code: 'UNREADABLE_TRANSCRIPT', reason })),
    );
  });

  test('does not name files that cannot be opened, either', async () => {
    const file = path.join(scratch, 'nowhere');
    const reason = 'The transcript cannot be read: ENOENT: no such file or directory';
    expect(await unlessUnreadable(file, undefined, () => readSession(file, {}))).toEqual({
      ...{ file, code: 'UNREADABLE_TRANSCRIPT', reason },
    });
  });
});
