import { AsyncLocalStorage } from 'node:async_hooks';
import type * as FileSystem from 'node:fs/promises';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { directoryStore } from '../../../src/main/state/directory-store.js';
import { runs } from '../../support/scale.js';

/** A process that dies at one of its steps: that step is done in half or not at all, and later ones are not done. */
const life = vi.hoisted(() => {
  const dead = (): Promise<never> => Promise.reject(new Error('The process has died.'));
  return {
    stepsLeft: Infinity,
    /** How often another process removes an empty folder before a file is created in it. */
    foldersTaken: 0,
    hasLinks: true,
    /** What a power failure would undo: contents by file name, and names by folder. */
    unsynced: new Set<string>(),
    /** Steps done before what they rely on was synced. */
    hasty: [] as string[],
    /** Decides when a step is done. */
    wait: undefined as ((name: string) => Promise<void>) | undefined,
    /** Does a step, or dies at it. */
    async step<Result>(
      name: string,
      act: () => Promise<Result>,
      inHalf: () => Promise<unknown> = dead,
    ): Promise<Result> {
      await this.wait?.(name);
      if (this.stepsLeft <= 0) return dead();
      this.stepsLeft -= 1;
      return this.stepsLeft === 0 ? inHalf().then(dead, dead) : act();
    },
  };
});

/** Records syncs instead of doing them: real ones would take most of the time. */
const synced = (): Promise<void> => Promise.resolve();

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof FileSystem>();
  const open: typeof real.open = async (given, ...args) => {
    const path = String(given);
    const isFolder = args[0] === 'r';
    if (life.foldersTaken > 0 && !isFolder) {
      life.foldersTaken -= 1;
      await real.rmdir(dirname(path));
    }
    const handle = await life.step('open', () => real.open(path, ...args));
    const { writeFile } = handle;
    return Object.assign(handle, {
      writeFile: (text: string) => {
        life.unsynced.add(path);
        return life.step(
          'write',
          () => writeFile.call(handle, text),
          () => writeFile.call(handle, text.slice(0, text.length / 2)),
        );
      },
      datasync: () => {
        life.unsynced.delete(path);
        return life.step('datasync', synced);
      },
      sync: () => {
        life.unsynced.delete(path);
        return life.step('sync', synced);
      },
    });
  };
  return {
    ...real,
    open,
    link: async (from: string, to: string) => {
      if (!life.hasLinks) throw Object.assign(new Error('EPERM: link'), { code: 'EPERM' });
      await life.step('link', () => real.link(from, to));
      if (life.unsynced.has(from)) life.hasty.push(`link ${to}`);
      life.unsynced.add(dirname(to));
    },
    mkdir: (path: string, options: object) =>
      life.step('mkdir', async () => {
        const made = (await real.mkdir(path, options)) as unknown as string | undefined;
        for (let at = path; made !== undefined && at.length >= made.length; at = dirname(at))
          life.unsynced.add(dirname(at));
        return made;
      }),
    readdir: (path: string) => life.step('readdir', () => real.readdir(path)),
    unlink: (path: string) =>
      life.step('unlink', () => {
        if (!basename(path).startsWith('.') && life.unsynced.has(dirname(path)))
          life.hasty.push(`unlink ${path}`);
        return real.unlink(path);
      }),
  };
});

const roots: string[] = [];
afterEach(() => {
  Object.assign(life, {
    stepsLeft: Infinity,
    foldersTaken: 0,
    hasLinks: true,
    hasty: [],
    wait: undefined,
  });
  life.unsynced.clear();
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
    'refuses %j, which is not the path of a directory',
    (path) => {
      expect(() => directoryStore(path)).toThrow('Expected the path of a directory');
    },
  );

  it('creates a folder again that another process removes before there is a file in it', async () => {
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

  it('works without hard links, which memory cards and some network drives lack', async () => {
    life.hasLinks = false;
    const [one, other] = [directoryStore(newRoot()), directoryStore(roots.at(-1)!)];
    expect(await one.save('key', 'one', null)).toBe(1);
    expect(await other.save('key', 'other', null)).toBe('conflict');
    expect(await other.save('key', STATE, 1)).toBe(2);
    expect(await one.load('key')).toEqual({ state: STATE, version: 2 });
    await one.put?.('originals', 'call', 'original');
    expect(await other.get?.('originals', 'call')).toBe('original');
  });

  it('gives up on a folder that is removed each time', async () => {
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
      // The next process saves on top of it, and removes what the dead one left except for its draft.
      const next = await survivor.save('key', 'next', loaded?.version ?? null);
      expect(await survivor.load('key')).toEqual({ state: 'next', version: next });
      const [folder = ''] = readdirSync(root);
      const versions = readdirSync(join(root, folder)).filter((name) => name.startsWith('v'));
      expect(versions).toHaveLength(1);
    }
    expect([...outcomes].sort()).toEqual(['for', 'new']);
  });

  it('syncs what a step relies on before that step, and everything in the end', async () => {
    const root = join(newRoot(), 'new', 'states');
    const store = directoryStore(root);
    let version: number | null = null;
    for (const state of ['one', 'two', 'three'])
      version = (await store.save('key', state, version)) as number;
    await store.put?.('key', 'call', 'original');
    await store.delete('key');
    expect(life.hasty).toEqual([]);
    expect([...life.unsynced]).toEqual([]);
  });

  it('never overwrites what others have saved meanwhile, at whichever step they were faster', async () => {
    const writer = new AsyncLocalStorage<number>();
    const isWaiting = (): boolean => life.wait !== undefined;
    for (let pause = 1, isOver = false; !isOver; pause += 1) {
      const root = newRoot();
      const late = directoryStore(root);
      const first = (await late.save('key', 'first', null)) as number;
      let steps = 0;
      let known: string | undefined;
      life.wait = async () => {
        // Steps of the sweep that the first save started do not count.
        if (writer.getStore() !== pause || (steps += 1) !== pause) return;
        life.wait = undefined;
        const other = directoryStore(root);
        for (const state of ['second', 'third']) {
          const loaded = await other.load('key');
          known ??= loaded?.state;
          expect(await other.save('key', state, loaded?.version ?? null)).toBeTypeOf('number');
        }
      };
      const outcome = await writer.run(pause, () => late.save('key', 'late', first));
      isOver = isWaiting();
      life.wait = undefined;
      if (isOver) continue;
      if (outcome !== 'conflict') expect(known).toBe('late');
      expect((await late.load('key'))?.state, `step ${pause}`).toBe('third');
    }
  });

  it('saves only on top of the version that the writer loaded, however the steps of writers interleave', async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), async (scheduler) => {
        const root = newRoot();
        const first = (await directoryStore(root).save('key', 'first', null)) as number;
        life.wait = (name) => scheduler.schedule(Promise.resolve(), name);
        const followed = new Map<number, number>();
        const write = async (writer: string): Promise<void> => {
          const store = directoryStore(root);
          for (let at = 0; at < 3; at += 1) {
            const { version } = (await store.load('key')) ?? { version: null };
            const saved = await store.save('key', `${writer} ${at}`, version);
            if (saved === 'conflict') continue;
            expect(followed.has(saved)).toBe(false);
            followed.set(saved, version ?? 0);
          }
        };
        await scheduler.waitFor(Promise.all([write('one'), write('other')]));
        life.wait = undefined;
        // A writer whose save was followed at once may take it for refused; it then decides again on top of the newer version.
        let last = first;
        for (const [version, former] of [...followed].sort(([one], [other]) => one - other)) {
          expect(former).toBeGreaterThanOrEqual(last);
          last = version;
        }
        const { version } = (await directoryStore(root).load('key')) ?? { version: 0 };
        expect(version).toBeGreaterThanOrEqual(last);
      }),
      { numRuns: runs(700) },
    );
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

  it('leaves nothing of a save for which a full disk had no room', async () => {
    const root = newRoot();
    const store = directoryStore(root);
    const version = await store.save('key', STATE, null);
    const [folder = ''] = readdirSync(root);
    const full = Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
    for (const step of ['write', 'datasync', 'link', 'sync']) {
      life.wait = (name) => (name === step ? Promise.reject(full) : Promise.resolve());
      await expect(store.save('key', 'next', version as number), step).rejects.toBe(full);
      life.wait = undefined;
      const left = readdirSync(join(root, folder)).filter((name) => name.startsWith('.'));
      expect(left, step).toEqual([]);
    }
    expect((await store.load('key'))?.state).toBe('next');
  });

  it('sweeps drafts of dead processes, and originals for a state that was never saved', async () => {
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
    // A draft that its process completes between two steps of the sweep, in the first folder.
    const busy = join(root, '0'.repeat(64));
    mkdirSync(busy);
    symlinkSync(join(busy, 'completed'), join(busy, '.draft'));
    await directoryStore(root).save('alive', STATE, null);
    await expect.poll(() => readdirSync(root)).toHaveLength(2);
    expect((await directoryStore(root).load('alive'))?.state).toBe(STATE);
  });
});
