// Digests show where two histories differ first.

import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { HistoryService } from '../../../src/main/history-service.js';
import { firstDifferingEntry, HistoryDigest } from '../../../src/main/state/history-digest.js';
import type { HistoryDigests } from '../../../src/main/state/history-digest.js';
import { nextTurn } from '../../../src/main/waiting/event-loop-turn.js';
import { humanText, toolContent, toolResponse } from '../../../src/shared/content.js';
import type { IContent } from '../../../src/shared/content.js';
import { NO_EDITS } from '../../../src/shared/density.js';
import { textOfEntry } from '../../../src/shared/state/canonical-text.js';
import { collectGarbage } from '../../../bench/support/used-megabytes.js';
import { runs } from '../../support/scale.js';

function digestsOf(history: readonly IContent[]): HistoryDigests {
  const digest = new HistoryDigest();
  for (const entry of history) digest.add(entry);
  return digest.digests;
}

/** The digests that a stored state has of a history, each hashed at once and from scratch. */
function naiveDigests(history: readonly IContent[]): HistoryDigests & { names: readonly string[] } {
  const sha256 = (data: string | Uint8Array): Buffer => createHash('sha256').update(data).digest();
  const hashes = history.map((entry) => sha256(textOfEntry(entry)));
  const over = (end: number): Buffer => sha256(Buffer.concat(hashes.slice(0, end))).subarray(0, 16);
  const ends = hashes.map((_, at) => at + 1);
  const places = [...ends.filter((end) => end % 64 === 0), hashes.length];
  return {
    entries: hashes.length,
    bytes: Uint8Array.from(hashes, (bytes) => bytes[0] ?? 0),
    places: Uint8Array.from(Buffer.concat(places.map(over))),
    names: ends.filter((end) => (end & (end - 1)) === 0).map((end) => over(end).toString('hex')),
  };
}

function texts(length: number): IContent[] {
  return Array.from({ length }, (_, at) => humanText(`entry ${at}`));
}

describe('firstDifferingEntry', () => {
  it('never takes a different entry for an equal one, and nearly always finds it', () => {
    let exact = 0;
    let all = 0;
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 300 }), fc.nat(), fc.nat(), (length, seed, salt) => {
        const at = seed % length;
        const edited = texts(length);
        edited[at] = humanText(`another one ${salt}`);
        const found = firstDifferingEntry(digestsOf(texts(length)), digestsOf(edited));
        // If entries differ without a different byte in their digest, the whole block counts as different.
        expect(found).toBeLessThanOrEqual(at);
        all += 1;
        if (found === at) exact += 1;
      }),
      { numRuns: runs(3_000) },
    );
    expect(exact / all).toBeGreaterThan(0.97);
  });

  it('is the length of the shorter history if that is a prefix of the other', () => {
    for (const length of [0, 1, 63, 64, 65, 128, 200]) {
      expect(firstDifferingEntry(digestsOf(texts(200)), digestsOf(texts(length)))).toBe(length);
    }
  });

  it('sees every character of a long result, and a moved border between two texts', () => {
    const result = 'x'.repeat(100_000);
    const last = toolContent([toolResponse('c', 'run', `${result}y`)]);
    const other = toolContent([toolResponse('c', 'run', `${result}z`)]);
    expect(firstDifferingEntry(digestsOf([last]), digestsOf([other]))).toBe(0);
    const ab: IContent = { speaker: 'human', blocks: [text('ab'), text('c')] };
    const bc: IContent = { speaker: 'human', blocks: [text('a'), text('bc')] };
    expect(firstDifferingEntry(digestsOf([ab]), digestsOf([bc]))).toBe(0);
  });

  it('ignores the order of keys and the metadata of an entry', () => {
    const one = { ...humanText('a'), metadata: { timestamp: 1 } };
    const call = { type: 'tool_call', id: 'c', name: 'run', parameters: { a: 1, b: [2] } } as const;
    const turned = {
      parameters: { b: [2], a: 1 },
      name: 'run',
      id: 'c',
      type: 'tool_call',
    } as const;
    const a: IContent[] = [one, { speaker: 'ai', blocks: [call] }];
    const b: IContent[] = [humanText('a'), { speaker: 'ai', blocks: [turned] }];
    expect(firstDifferingEntry(digestsOf(a), digestsOf(b))).toBe(2);
  });
});

describe('HistoryDigest', () => {
  it('leaves an entry that the host has changed to whoever asks for the fingerprint', async () => {
    const digest = new HistoryDigest();
    const entry = humanText('hello');
    digest.add(entry);
    Object.assign(entry, { blocks: undefined });
    digest.settleSoon();
    await nextTurn();
    for (let asked = 0; asked < 2; asked += 1) expect(() => digest.digests).toThrow(TypeError);
  });

  it('is the same however it was fed', async () => {
    const history = texts(150);
    const slow = new HistoryDigest();
    for (const entry of history) {
      slow.add(entry);
      slow.settleSoon();
      if (history.indexOf(entry) % 40 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    const sliced = new HistoryDigest();
    for (const entry of history) sliced.add(entry);
    for (const slice of sliced.settleInSlices()) expect(slice).toBeUndefined();
    expect(slow.digests).toEqual(digestsOf(history));
    expect(sliced.digests).toEqual(digestsOf(history));
    expect(sliced.names).toHaveLength(8);
  });

  it('reads an entry only when it is asked, or in a later turn after settleSoon', async () => {
    // Otherwise a turn of the event loop may be over before it has begun, on a busy machine.
    const now = vi.spyOn(performance, 'now').mockReturnValue(0);
    onTestFinished(() => now.mockRestore());
    let looks = 0;
    const entries = texts(3).map((entry) => ({
      ...entry,
      get blocks() {
        looks += 1;
        return entry.blocks;
      },
    }));
    const digest = new HistoryDigest();
    const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
    for (const entry of entries.slice(0, 2)) digest.add(entry);
    await turn();
    expect(looks).toBe(0);
    digest.settleSoon();
    digest.add(entries[2] as IContent);
    // No edit waits for that.
    expect(looks).toBe(0);
    await turn();
    const two = looks;
    await turn();
    expect([two > 0, looks]).toEqual([true, two]);
    expect(digest.digests).toEqual(digestsOf(texts(3)));
    expect(looks).toBe((3 * two) / 2);
  });

  it('is the same whenever it is asked, whatever happened to the entries', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(STEP, { maxLength: 40 }),
        fc.boolean(),
        async (steps, keepsAdded) => {
          const history = new HistoryService({ keepsAdded });
          let added: IContent[] = [];
          for (const [step, seed] of [...steps, ['ask', 0] as const]) {
            const { length } = history;
            const at = length === 0 ? 0 : seed % length;
            if (step === 'add') {
              const again = added[seed % (added.length + 1)];
              const entries = [...texts(seed % 40), ...(again === undefined ? [] : [again])];
              history.addAll(entries);
              added.push(...entries);
            } else if (step === 'ask') {
              const { digest } = history.journal;
              expect({ ...digest.digests, names: digest.names }).toEqual(naiveDigests(added));
            } else if (step === 'turn') {
              await new Promise((resolve) => setImmediate(resolve));
            } else if (step === 'clear') {
              history.clear();
              added = [];
            } else if (step === 'compress') {
              if (history.isCompressing) history.endCompression();
              else history.startCompression();
            } else if (step === 'rewrite') {
              const kept = history.getAll().filter((_, index) => (index + seed) % 3 === 0);
              history.replaceAll([humanText(`summary ${seed}`), ...kept], history.base);
            } else if (length > 0 && !history.isCompressing) {
              const removals = length > 1 ? [(at + 1) % length] : [];
              const replacements = new Map([[at, humanText(`edited ${seed}`)]]);
              await history.applyDensityResult({ ...NO_EDITS, removals, replacements });
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it('is the same when most of a long history is removed before it is asked', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(30), fc.nat(30), fc.nat(3), fc.boolean()), {
          ...{ minLength: 20, maxLength: 60 },
        }),
        async (rounds) => {
          const digest = new HistoryDigest();
          const added: IContent[] = [];
          let standing: IContent[] = [];
          for (const [more, from, kept, isHashed] of rounds) {
            const twice = standing.at(from);
            const entries = [...texts(more), ...(twice === undefined ? [] : [twice])];
            for (const entry of entries) digest.add(entry);
            added.push(...entries);
            standing.push(...entries);
            const left = standing.filter((_, at) => at >= from && at % 4 > kept);
            if (left.length > 0) digest.settleSoon();
            standing = standing.filter((entry) => !left.includes(entry));
            if (isHashed) await new Promise((resolve) => setImmediate(resolve));
          }
          expect({ ...digest.digests, names: digest.names }).toEqual(naiveDigests(added));
        },
      ),
      { numRuns: runs(500) },
    );
  });

  it('keeps no entry that was removed from the history', async () => {
    const history = new HistoryService();
    const gone = [...(await addAndRemove(history)), ...(await addAndRemove(history))];
    await collectGarbage();
    expect(gone).toHaveLength(6);
    expect(gone.filter((entry) => entry.deref() !== undefined)).toEqual([]);
  });
});

describe('HistoryDigest.settleSoon', () => {
  it('keeps no entry of a long history', async () => {
    const digest = new HistoryDigest();
    const gone = addAndSettle(digest);
    await collectGarbage();
    expect(gone.filter((entry) => entry.deref() !== undefined)).toEqual([]);
    expect(digest.digests.entries).toBe(gone.length);
  });

  it('keeps few entries when the event loop never turns', () => {
    const digest = new HistoryDigest();
    let looks = 0;
    for (let at = 0; at < 10_000; at += 1) {
      const { blocks, ...entry } = humanText('x');
      const looked = {
        ...entry,
        get blocks() {
          looks += 1;
          return blocks;
        },
      };
      digest.add(looked);
      digest.settleSoon();
    }
    expect(looks).toBeGreaterThan(5_000);
  });
});

function addAndSettle(digest: HistoryDigest): readonly WeakRef<IContent>[] {
  const entries = texts(600);
  for (const entry of entries) digest.add(entry);
  digest.settleSoon();
  return entries.map((entry) => new WeakRef(entry));
}

const STEP = fc.tuple(
  fc.constantFrom('add', 'add', 'edit', 'edit', 'rewrite', 'compress', 'clear', 'turn', 'ask'),
  fc.nat(1_000),
);

/** Adds six entries, the last of them twice; an edit removes one and replaces one, and a rewrite omits the last one. */
async function addAndRemove(history: HistoryService): Promise<readonly WeakRef<IContent>[]> {
  // Entries added before are not pending any more.
  history.journal.digest.settle();
  const start = history.length;
  const entries = texts(6);
  history.addAll([...entries, ...entries.slice(5)]);
  const replacements = new Map([[start + 1, humanText('edited')]]);
  await history.applyDensityResult({ ...NO_EDITS, removals: [start], replacements });
  history.replaceAll(history.getAll().slice(0, start + 4), history.base);
  return [entries[0], entries[1], entries[5]].map((entry) => new WeakRef(entry as IContent));
}

function text(value: string): { readonly type: 'text'; readonly text: string } {
  return { type: 'text', text: value };
}
