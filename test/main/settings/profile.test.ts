// Profiles on a real file system: what is saved, what is refused, and what a failure leaves behind.

import { execFileSync } from 'node:child_process';
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadProfile, saveProfile } from '../../../src/main/settings/profile.js';
import { CtxfoldError } from '../../../src/shared/errors.js';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'ctxfold-profile-'));
  path = join(folder, 'profile.json');
});

afterEach(async () => {
  await rm(folder, { recursive: true });
});

const SETTINGS = {
  'compression.strategy': 'high-density',
  'compression.profile': 'billig & schnell “ü”',
  'compression.threshold': 0.7,
  'compression.density.recencyPruning': true,
  'compression.density.recencyRetention': 5,
} as const;

describe('loadProfile', () => {
  it('returns what saveProfile saved', async () => {
    await saveProfile(path, SETTINGS);
    expect(await loadProfile(path)).toStrictEqual(SETTINGS);
  });

  it.each([
    ['no settings', '{}', {}],
    ['a byte order mark', '\uFEFF{"compression.threshold": 0.5}', { 'compression.threshold': 0.5 }],
    ['the alias', '{"compression-threshold": 0.5}', { 'compression.threshold': 0.5 }],
  ])('accepts a profile with %s', async (_, text, settings) => {
    await writeFile(path, text);
    expect(await loadProfile(path)).toStrictEqual(settings);
  });

  const refused: readonly [string, string | Uint8Array, string | RegExp][] = [
    ['nothing', '', /Unexpected end of JSON input/],
    ['JSON that breaks off', '{"compression.threshold": 0.', /JSON/],
    ['an array', '[]', 'Expected an object of settings, got an array.'],
    ['null', 'null', 'Expected an object of settings, got null.'],
    ['text', '"compression.threshold"', /^Expected an object of settings, got "compression/],
    ['an own __proto__', '{"__proto__": {"polluted": true}}', /^Unknown setting '__proto__'\./],
    ['a constructor', '{"constructor": {"prototype": {}}}', /^Unknown setting 'constructor'\./],
    ['an unknown setting', '{"compression.mode": 1}', /Known settings: compression\.strategy, /],
    ['null as a value', '{"compression.threshold": null}', /got null\.$/],
    ['an infinite value', '{"compression.threshold": 1e999}', /got Infinity\.$/],
    ['a deep value', `{"compression.profile": ${nest(20_000)}}`, /got an array\.$/],
    ['a deep profile', nest(30_000), 'Expected an object of settings, got an array.'],
    ['65,537 bytes', ' '.repeat(65_537), 'Expected at most 65536 bytes of settings, got 65537.'],
    ['what is no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), /not valid/],
  ];
  it.each(refused)('refuses a profile with %s', async (_, content, reason) => {
    await writeFile(path, content);
    const error: unknown = await loadProfile(path).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(CtxfoldError);
    const { code, message, cause } = error as CtxfoldError;
    expect(code).toBe('PROFILE_UNREADABLE');
    expect(message).toBe(`Cannot use the profile ${path}. ${(cause as Error).message}`);
    if (typeof reason === 'string') expect((cause as Error).message).toBe(reason);
    else expect((cause as Error).message).toMatch(reason);
    expect({}).not.toHaveProperty('polluted');
  });

  it('reports a missing file', async () => {
    await expect(loadProfile(path)).rejects.toMatchObject({
      code: 'PROFILE_UNREADABLE',
      cause: { code: 'ENOENT' },
    });
  });

  it('refuses a folder, and a named pipe without waiting for its writer', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', path]);
    for (const wrong of [folder, path]) {
      await expect(loadProfile(wrong)).rejects.toMatchObject({
        code: 'PROFILE_UNREADABLE',
        cause: { message: 'Expected a file, got something else.' },
      });
    }
  });
});

describe('saveProfile', () => {
  it('writes readable JSON in the order of the registry, without defaults', async () => {
    await saveProfile(path, {
      'compression.density.fileDedupe': undefined,
      'compression-threshold': 0.7,
      'compression.strategy': 'high-density',
    });
    expect(await readFile(path, 'utf8')).toBe(
      '{\n  "compression.strategy": "high-density",\n  "compression.threshold": 0.7\n}\n',
    );
  });

  it('lets only its owner read the file, even if it replaces another', async () => {
    await saveProfile(path, {});
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await chmod(path, 0o644);
    await saveProfile(path, SETTINGS);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder)).toEqual(['profile.json']);
  });

  it('replaces the target of a link, and keeps the link', async () => {
    const target = join(folder, 'dotfiles');
    await mkdir(target);
    await writeFile(join(target, 'profile.json'), '{}');
    await symlink('dotfiles/profile.json', path);
    await saveProfile(path, SETTINGS);
    expect(await readlink(path)).toBe('dotfiles/profile.json');
    expect(await loadProfile(join(target, 'profile.json'))).toStrictEqual(SETTINGS);
  });

  it('refuses invalid settings as misuse, and keeps the file', async () => {
    await saveProfile(path, SETTINGS);
    await expect(saveProfile(path, { 'compression.threshold': 2 })).rejects.toThrow(RangeError);
    const unknown = JSON.parse('{"__proto__": 1}') as object;
    await expect(saveProfile(path, unknown)).rejects.toThrow(TypeError);
    expect(await loadProfile(path)).toStrictEqual(SETTINGS);
  });

  it.each([
    ['its folder does not exist', 'missing/profile.json', 'ENOENT'],
    ['a folder has its name', 'folder', 'EISDIR'],
  ])('fails with the reason that %s', async (_, name, code) => {
    await mkdir(join(folder, 'folder'));
    const wrong = join(folder, name);
    await expect(saveProfile(wrong, SETTINGS)).rejects.toMatchObject({
      name: 'CtxfoldError',
      code: 'PROFILE_WRITE_FAILED',
      message: expect.stringContaining(`Cannot save the profile ${wrong}. ${code}`),
      cause: { code },
    });
    expect(await readdir(folder)).toEqual(['folder']);
  });

  it('leaves one whole profile when many are saved at once', async () => {
    const thresholds = Array.from({ length: 20 }, (_, index) => (index + 1) / 20);
    const saves = thresholds.map((value) => saveProfile(path, { 'compression.threshold': value }));
    await Promise.all(saves);
    expect(thresholds).toContain((await loadProfile(path))['compression.threshold']);
    expect(await readdir(folder)).toEqual(['profile.json']);
  });
});

function nest(depth: number): string {
  return '['.repeat(depth) + ']'.repeat(depth);
}
