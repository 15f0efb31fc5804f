// The density pass of a session: its input, when it runs, and when the history counts as dirty.

import { describe, expect, it, vi } from 'vitest';

import { createCompactor } from '../../src/main/compactor.js';
import type { EntryChange } from '../../src/main/history-change.js';
import { InlineOffload } from '../../src/main/offload/inline.js';
import { humanText } from '../../src/shared/content.js';
import { NO_EDITS } from '../../src/shared/density.js';
import { explainDensity } from '../../src/shared/density/explain/explain-density.js';
import { ACTION } from '../../src/shared/density/rules/marks.js';
import { historyOf } from '../support/notation.js';
import {
  entries,
  entriesOf,
  keepLast,
  openNoted,
  openSession,
  strategyOf,
} from '../support/session-bench.js';

/** By index of a history, what an edit made of each entry. */
function verdictsOf(changes: readonly EntryChange[], length: number): readonly string[] {
  const verdicts = Array.from({ length }, () => 'kept');
  for (const { index, after } of changes) verdicts[index] = after === null ? 'removed' : 'changed';
  return verdicts;
}

/** Two reads of a file that is then written: the reads are stale. */
const STALE = 'h a:r1 t:r1 a:w2 t:w2 h';

describe('Session', () => {
  describe('explain', () => {
    it('tells what the next pass does, by the settings of the session', async () => {
      const session = openSession({
        entries: historyOf('h a:r1 t:r1 a:w2 t:w2 a:s3 t:s3 a:s4 t:s4 h'),
        settings: { 'compression.density.recencyPruning': true },
      });
      session.settings.set('compression.density.recencyRetention', 1);
      const { length } = session.history.getRawHistory();
      const expected = Array.from({ length }, (_, index) => session.explain(index).verdict);
      expect(session.explain(1).blocks).toMatchObject([{ rule: 'read-write', callId: 'r1' }]);
      expect(session.explain(6).blocks).toMatchObject([{ rule: 'recency', rank: 2 }]);
      const event = await session.ensureDensityOptimized();
      expect(verdictsOf(event?.changes ?? [], length)).toEqual(expected);
      expect(session.explain(1).blocks).toMatchObject([{ callId: 'w2' }]);
    });

    it('throws for a missing entry', () => {
      expect(() => openSession({ entries: entries(2) }).explain(2)).toThrow(RangeError);
    });
  });

  describe('densityConfig', () => {
    it('is the config of the next pass, whatever was set meanwhile', async () => {
      const session = openSession({ entries: historyOf(STALE) });
      const { result } = explainDensity(session.history.getAll(), session.densityConfig);
      const event = await session.ensureDensityOptimized();
      expect(event?.changes.map(({ index }) => index)).toEqual([...result.removals]);
      session.settings.set('compression.density.recencyPruning', true);
      session.settings.set('compression.density.recencyRetention', 7);
      expect(session.densityConfig).toMatchObject({ recencyPruning: true, recencyRetention: 7 });
    });
  });

  describe('contextLimit', () => {
    it('is the given limit, or that of the model named last', async () => {
      await using byModel = createCompactor({ offload: 'inline' });
      const session = await byModel.createSession();
      expect(session.contextLimit).toBe(128_000);
      session.history.nameModel('claude-opus-5-5');
      expect(session.contextLimit).toBe(1_000_000);
      await using given = createCompactor({ offload: 'inline', contextLimit: 9_000 });
      expect((await given.createSession()).contextLimit).toBe(9_000);
    });
  });

  describe('densityDirty', () => {
    it('is true at first, and false after a pass that found nothing', async () => {
      const session = openSession();
      expect(session.densityDirty).toBe(true);
      expect(await session.ensureDensityOptimized()).toBeNull();
      expect(session.densityDirty).toBe(false);
    });

    it('is set by content and cleared by a pass, whose own edit does not set it', async () => {
      const session = openSession();
      await session.ensureDensityOptimized();
      session.history.addAll(historyOf(STALE));
      expect(session.densityDirty).toBe(true);
      expect(await session.ensureDensityOptimized()).not.toBeNull();
      expect(session.densityDirty).toBe(false);
    });

    it('is not set by an edit, a compression or clearing', async () => {
      const session = openSession({ strategy: keepLast(2), entries: entries(9) });
      await session.ensureDensityOptimized();
      await session.history.applyDensityResult({ ...NO_EDITS, removals: [0] });
      expect(session.densityDirty).toBe(false);
      await session.performCompression('p1');
      expect(session.densityDirty).toBe(false);
      session.history.clear();
      expect(session.densityDirty).toBe(false);
    });

    it('is set by content that is queued during a compression', async () => {
      const strategy = strategyOf(async ({ history }) => {
        session.history.add(humanText('meanwhile'));
        return history.slice(-2);
      });
      const session = openSession({ strategy, entries: entries(9) });
      await session.ensureDensityOptimized();
      await session.performCompression('p1');
      expect(session.densityDirty).toBe(true);
    });

    it('is cleared even if the pass throws', async () => {
      const offload = new InlineOffload();
      const optimize = vi.spyOn(offload, 'optimize').mockRejectedValue(new Error('broken pass'));
      const session = openSession({ offload, entries: entries(1) });
      await expect(session.ensureDensityOptimized()).rejects.toThrow('broken pass');
      expect(session.densityDirty).toBe(false);
      expect(await session.ensureDensityOptimized()).toBeNull();
      expect(optimize).toHaveBeenCalledOnce();
    });

    it('stays true if content is added while the pass runs', async () => {
      const offload = new InlineOffload();
      const session = openNoted(STALE, { offload });
      const pass = session.ensureDensityOptimized();
      session.history.add(humanText('late'));
      await pass;
      expect(session.densityDirty).toBe(true);
      expect(entriesOf(session)).toBe('h a:w2 t:w2 h h:late');
    });

    it('stays true if the pass is aborted, or the strategy does not prune', async () => {
      const controller = new AbortController();
      const session = openNoted(STALE);
      const pass = session.ensureDensityOptimized({ signal: controller.signal });
      controller.abort('enough');
      await expect(pass).rejects.toBe('enough');
      expect(session.densityDirty).toBe(true);

      const other = openSession({ strategy: strategyOf(async () => [], null) });
      expect(await other.ensureDensityOptimized()).toBeNull();
      expect(other.densityDirty).toBe(true);
    });
  });

  describe('ensureDensityOptimized', () => {
    it('does nothing while the history is clean', async () => {
      const offload = new InlineOffload();
      const optimize = vi.spyOn(offload, 'optimize');
      const session = openNoted('h a', { offload });
      await session.ensureDensityOptimized();
      await session.ensureDensityOptimized();
      expect(optimize).toHaveBeenCalledOnce();
    });

    it('applies no empty result', async () => {
      const session = openNoted('h a');
      const apply = vi.spyOn(session.history, 'applyDensityResult');
      expect(await session.ensureDensityOptimized()).toBeNull();
      expect(apply).not.toHaveBeenCalled();
    });

    it('passes the raw history, settings and agent options to the pass', async () => {
      const offload = new InlineOffload();
      const optimize = vi.spyOn(offload, 'optimize');
      const session = openSession({
        offload,
        // getCurated would omit the empty ai entry.
        entries: historyOf('h a:_ h'),
        settings: {
          'compression.density.recencyPruning': true,
          'compression.density.recencyRetention': 7,
          'compression.density.fileDedupe': false,
        },
        density: { workspaceRoot: '/here', partialWritesSupersede: false },
      });
      await session.ensureDensityOptimized();
      const [history, base, config] = optimize.mock.calls[0] ?? [];
      expect([history, base]).toEqual([historyOf('h a:_ h'), session.history.base]);
      expect(config).toEqual({
        workspaceRoot: '/here',
        partialWritesSupersede: false,
        readWritePruning: true,
        fileDedupe: false,
        recencyPruning: true,
        recencyRetention: 7,
        placeholder: 'pointer',
      });
    });

    it('refuses an invalid plan, and changes nothing', async () => {
      const offload = new InlineOffload();
      const plan = Int32Array.of(0, 0, ACTION.drop, 0, -1, -1, 5, 0, ACTION.drop, 0, -1, -1);
      const planned = { base: { revision: 0, length: 2 }, plan };
      vi.spyOn(offload, 'optimize').mockResolvedValue(planned);
      const session = openNoted('h:one h:two', { offload });
      await expect(session.ensureDensityOptimized()).rejects.toThrow(RangeError);
      expect(entriesOf(session)).toBe('h:one h:two');
    });
  });
});
