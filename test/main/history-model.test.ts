// HistoryService against a naive model, by random sequences of commands.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HistoryService } from '../../src/main/history-service.js';
import { humanText } from '../../src/shared/content.js';
import type { IContent } from '../../src/shared/content.js';
import { NO_EDITS } from '../../src/shared/density.js';
import type { DensityBase, DensityResult } from '../../src/shared/density.js';
import { runs } from '../support/scale.js';

/** An entry's text is its weight in tokens. */
const entryOf = (tokens: number): IContent => humanText(String(tokens));
const weightOf = ({ blocks }: IContent): number => {
  const [block] = blocks;
  return block?.type === 'text' ? Number(block.text) : 0;
};

/** What the history should be, kept in the simplest way. */
interface Model {
  entries: IContent[];
  queued: IContent[] | null;
  /** Rewrites so far. */
  rewrites: number;
}

interface Real {
  readonly history: HistoryService;
  /** An earlier base, which may be stale by now, and the rewrites at that time. */
  remembered: { readonly base: DensityBase; readonly rewrites: number };
}

type Command = fc.AsyncCommand<Model, Real>;

function command(
  name: string,
  run: (model: Model, real: Real) => Promise<void> | void,
  check: (model: Model) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, real) {
      await run(model, real);
      expect(real.history.getAll()).toEqual(model.entries);
      expect(real.history.length).toBe(model.entries.length);
      expect(real.history.isCompressing).toBe(model.queued !== null);
      await real.history.waitForTokenUpdates();
      const total = model.entries.reduce((sum, entry) => sum + weightOf(entry), 0);
      expect(real.history.getTotalTokens()).toBe(total);
      expect(await real.history.estimateTokensForContents(model.entries)).toBe(total);
    },
    toString: () => name,
  };
}

const weights = fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 5 });

const addAll = weights.map((tokens) =>
  command(`addAll ${tokens.join()}`, (model, { history }) => {
    const entries = tokens.map(entryOf);
    history.addAll(entries);
    if (model.queued === null) model.entries.push(...entries);
    else model.queued.push(...entries);
  }),
);

const addInvalid = fc.constant(
  command('addAll with one that cannot be held', (_, { history }) => {
    const entries = [entryOf(1), { speaker: 'nobody', blocks: [] } as unknown as IContent];
    expect(() => {
      history.addAll(entries);
    }).toThrow(TypeError);
  }),
);

const clear = fc.constant(
  command('clear', (model, { history }) => {
    history.clear();
    model.entries = [];
    if (model.queued !== null) model.queued = [];
    model.rewrites += 1;
  }),
);

const remember = fc.constant(
  command('remember the base', (model, real) => {
    real.remembered = { base: real.history.base, rewrites: model.rewrites };
  }),
);

/** Edits as shares of the length, so that they stay meaningful when fast-check shrinks a case. */
const edits = fc.array(
  fc.record({ at: fc.nat(99), replacement: fc.option(fc.integer({ min: 0, max: 50 })) }),
  { maxLength: 5 },
);

const apply = edits.map((planned) =>
  command(
    `apply ${JSON.stringify(planned)}`,
    async (model, { history }) => {
      const byIndex = new Map(
        planned.map(({ at, replacement }) => [
          Math.floor((at * model.entries.length) / 100),
          replacement,
        ]),
      );
      const result: DensityResult = {
        ...NO_EDITS,
        removals: [...byIndex].flatMap(([index, tokens]) => (tokens === null ? [index] : [])),
        replacements: new Map(
          [...byIndex].flatMap(([index, tokens]) =>
            tokens === null ? [] : [[index, entryOf(tokens)]],
          ),
        ),
      };
      await history.applyDensityResult(result, history.base);
      for (const [index, entry] of result.replacements) model.entries[index] = entry;
      for (const index of [...result.removals].sort((a, b) => b - a))
        model.entries.splice(index, 1);
      model.rewrites += 1;
    },
    ({ entries, queued }) => queued === null && entries.length > 0,
  ),
);

const applyRemembered = fc.constant(
  command('apply an edit of the remembered base', async (model, real) => {
    const { base, rewrites } = real.remembered;
    const result = { ...NO_EDITS, removals: base.length > 0 ? [0] : [] };
    const outcome = await real.history.applyDensityResult(result, base).then(
      () => 'applied',
      (error: unknown) => (error as { code: string }).code,
    );
    if (model.queued !== null) {
      expect(outcome).toBe('COMPRESSION_IN_PROGRESS');
    } else if (rewrites === model.rewrites) {
      expect(outcome).toBe('applied');
      if (base.length > 0) model.entries.shift();
      model.rewrites += 1;
    } else {
      expect(outcome).toBe('DENSITY_STALE');
    }
  }),
);

const applyInvalid = fc.integer({ min: -3, max: 3 }).map((beyond) =>
  command(
    `apply beyond the end by ${beyond}`,
    async (model, { history }) => {
      const index = beyond < 0 ? beyond : model.entries.length + beyond;
      await expect(
        history.applyDensityResult({ ...NO_EDITS, removals: [index] }),
      ).rejects.toMatchObject({ code: 'DENSITY_OUT_OF_BOUNDS' });
    },
    ({ queued }) => queued === null,
  ),
);

const startCompression = fc.constant(
  command('start a compression', (model, { history }) => {
    if (model.queued === null) {
      history.startCompression();
      model.queued = [];
    } else {
      expect(() => {
        history.startCompression();
      }).toThrow(expect.objectContaining({ code: 'COMPRESSION_IN_PROGRESS' }));
    }
  }),
);

const endCompression = weights.map((tokens) =>
  command(`compress to the newest and ${tokens.join()}`, (model, { history }) => {
    const compressed = [...tokens.map(entryOf), ...model.entries.slice(-1)];
    if (model.queued !== null) {
      expect(history.replaceAll(compressed, history.base)).toBe(true);
      model.entries = compressed;
      model.rewrites += 1;
    }
    history.endCompression();
    model.entries.push(...(model.queued ?? []));
    model.queued = null;
  }),
);

describe('HistoryService', () => {
  it('behaves as its model under any sequence of commands', async () => {
    const commands = fc.commands(
      [
        addAll,
        addAll,
        addInvalid,
        clear,
        remember,
        apply,
        apply,
        applyRemembered,
        applyInvalid,
        startCompression,
        endCompression,
      ],
      { maxCommands: 40, size: 'max' },
    );
    await fc.assert(
      fc.asyncProperty(commands, (sequence) =>
        fc.asyncModelRun(() => {
          const history = new HistoryService({
            countEntries: (contents) => Promise.resolve(contents.map(weightOf)),
          });
          return {
            model: { entries: [], queued: null, rewrites: 0 },
            real: { history, remembered: { base: history.base, rewrites: 0 } },
          };
        }, sequence),
      ),
      { numRuns: runs(1_000) },
    );
  });
});
