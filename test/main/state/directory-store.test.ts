import type * as FileSystem from 'node:fs/promises';
import { mkdtempSync, readdirSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { directoryStore } from '../../../src/main/state/directory-store.js';

/** A process that dies at one of its steps: that one is done in half or not at all, and so is nothing that follows. */
const life = vi.hoisted(() => {
  const dead = (): Promise<never> => Promise.reject(new Error('The process has died.'));
  return {
    stepsLeft: Infinity,
    /** So many times somebody takes an empty folder away before a file is made in it. */
    foldersTaken: 0,
    /** Does a step, or dies at it. */
    step<Result>(act: () => Promise<Result>, inHalf: () => Promise<unknown> = dead) {
      if (this.stepsLeft <= 0) return dead();
      this.stepsLeft -= 1;
      return this.stepsLeft === 0 ? inHalf().then(dead, dead) : act();
    },
  };
});

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof FileSystem>();
  const open: typeof real.open = async (path, ...args) => {
    if (life.foldersTaken > 0) {
      life.foldersTaken -= 1;
      await real.rmdir(dirname(String(path)));
    }
    const handle = await life.step(() => real.open(path, ...args));
    const { writeFile, datasync } = handle;
    return Object.assign(handle, {
      writeFile: (text: string) =>
        life.step(
          () => writeFile.call(handle, text),
          () => writeFile.call(handle, text.slice(0, text.length / 2)),
        ),
      datasync: () => life.step(() => datasync.call(handle)),
    });
  };
  return {
    ...real,
    open,
    link: (...args: Parameters<typeof real.link>) => life.step(() => real.link(...args)),
    mkdir: (path: string, options: object) => life.step(() => real.mkdir(path, options)),
    unlink: (...args: Parameters<typeof real.unlink>) => life.step(() => real.unlink(...args)),
  };
});

const roots: string[] = [];
afterEach(() => {
  Object.assign(life, { stepsLeft: Infinity, foldersTaken: 0 });
  for (const root of roots.splice(0)) rmSync(root, { recursive: true, force: true });
});

function newRoot(): string {
  const root = mkdtempSync(join(tmpdir(), 'ctxfold-states-'));
  roots.push(root);
  return root;
}

const STATE = 'x'.repeat(10_000);

describe('directoryStore', () => {
  it.each(['', 'redis://127.0.0.1', 'postgres://me@host/agents', 'mysql://host'])(
    'refuses %j, which is the path of no directory',
    (path) => {
      expect(() => directoryStore(path)).toThrow('Expected the path of a directory');
    },
  );

  it('makes a folder again that somebody takes away before there is a file in it', async () => {
    const root = newRoot();
    const store = directoryStore(root);
    for (const name of ['first', 'second']) {
      life.foldersTaken = 3;
      expect(await store.save(name, STATE, null)).toBe(1);
      life.foldersTaken = 3;
      await store.put?.(`${name} of originals`, 'call', 'original');
      expect(await store.get?.(`${name} of originals`, 'call')).toBe('original');
      expect(life.foldersTaken).toBe(0);
    }
  });

  it('gives up a folder that is taken away each time', async () => {
    life.foldersTaken = Infinity;
    await expect(directoryStore(newRoot()).save('key', STATE, null)).rejects.toThrow('ENOENT');
  });

  it('has the former state or the new one, whole, wherever the process dies in a save', async () => {
    const outcomes = new Set<string>();
    let isDead = true;
    for (let steps = 1; isDead; steps += 1) {
      const root = newRoot();
      const former = await directoryStore(root).save('key', `former ${STATE}`, null);
      life.stepsLeft = steps;
      const saving = directoryStore(root).save('key', `new ${STATE}`, former as number);
      isDead = await saving.then(
        () => false,
        () => true,
      );
      life.stepsLeft = Infinity;
      const survivor = directoryStore(root);
      const loaded = await survivor.load('key');
      expect([`former ${STATE}`, `new ${STATE}`]).toContain(loaded?.state);
      outcomes.add(String(loaded?.state.slice(0, 3)));
      // Whoever comes next saves on top of it, and clears up what the dead one has left but for his draft.
      const next = await survivor.save('key', 'next', loaded?.version ?? null);
      expect(await survivor.load('key')).toEqual({ state: 'next', version: next });
      const [folder = ''] = readdirSync(root);
      const versions = readdirSync(join(root, folder)).filter((name) => name.startsWith('v'));
      expect(versions).toHaveLength(1);
    }
    expect([...outcomes].sort()).toEqual(['for', 'new']);
  });

  it('has a first state whole or not at all, wherever the process dies', async () => {
    for (let steps = 1, isDead = true; isDead; steps += 1) {
      const root = newRoot();
      life.stepsLeft = steps;
      isDead = await directoryStore(root)
        .save('key', STATE, null)
        .then(
          () => false,
          () => true,
        );
      life.stepsLeft = Infinity;
      const loaded = await directoryStore(root).load('key');
      expect([undefined, STATE]).toContain(loaded?.state);
      expect(await directoryStore(root).save('key', 'next', loaded?.version ?? null)).toBeTypeOf(
        'number',
      );
    }
  });

  it('sweeps drafts of the dead, and what was kept for a state that never came', async () => {
    const root = newRoot();
    life.stepsLeft = 3;
    await expect(directoryStore(root).save('died', STATE, null)).rejects.toThrow('died');
    life.stepsLeft = Infinity;
    await directoryStore(root).put?.('never saved', 'call', 'original');
    const longAgo = new Date(Date.now() - 40 * 86_400_000);
    for (const folder of readdirSync(root)) {
      for (const name of readdirSync(join(root, folder))) {
        utimesSync(join(root, folder, name), longAgo, longAgo);
      }
      utimesSync(join(root, folder), longAgo, longAgo);
    }
    await directoryStore(root).save('alive', STATE, null);
    await vi.waitFor(() => {
      expect(readdirSync(root)).toHaveLength(1);
    });
    expect((await directoryStore(root).load('alive'))?.state).toBe(STATE);
  });
});
