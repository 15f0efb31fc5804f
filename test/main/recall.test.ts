// What a session removes can be recalled through the compactor to the byte, also after a restart; placeholders name the id for that.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Compactor } from '../../src/main/compactor.js';
import type { SessionOptions } from '../../src/main/session-options.js';
import type { CompactorOptions } from '../../src/main/compactor-options.js';
import { listRemoved } from '../../src/main/removal-log/list-removed.js';
import { restore } from '../../src/main/removal-log/restore.js';
import {
  aiContent,
  humanText,
  isToolResponseBlock,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import type { IContent, ToolResponseBlock } from '../../src/shared/content.js';
import { PRUNED_POINTER } from '../../src/shared/density.js';
import { isExcerpt } from '../../src/shared/density/index/excerpt.js';
import { DEFAULT_WORKING_SET } from '../../src/shared/density/rules/working-set-rules.js';
import type { WorkingSetRules } from '../../src/shared/density/rules/working-set-rules.js';
import { placeholderKind } from '../../src/shared/placeholder.js';
import { runsCommands } from '../../src/shared/tool-catalog.js';
import { memoryStore } from '../../src/state.js';
import { temporaryPath } from './removal-log/recording.js';
import { runs, sightings } from '../support/scale.js';
import { openCompactor } from '../support/open-compactor.js';

/** A result that looks like a placeholder. */
const LOOKALIKE = '[look: src/0.ts — success, 2 lines]';
/** Sessions of one user, who may recall all of them. */
const ALL = { acrossSessions: true } as const;
const POINTERS = {
  'compression.density.placeholder': 'pointer',
  'compression.strategy': 'high-density',
} as const;

/** Outputs become an excerpt once they were sent. */
const EXCERPTS: WorkingSetRules = {
  ...DEFAULT_WORKING_SET,
  ...{ outputCalls: 0, paybackCalls: Infinity, freeTokens: 0 },
};

function openPruning(options: CompactorOptions = {}): Compactor {
  return openCompactor({
    preset: 'specification',
    workspaceRoot: '/w',
    ...options,
    settings: {
      'compression.density.recencyPruning': true,
      'compression.density.recencyRetention': 1,
      'compression.density.placeholder': 'informative',
      ...options.settings,
    },
  });
}

/** A conversation with one call per result. */
function talkOf(results: readonly unknown[], idOf = (at: number) => `call_${at}`): IContent[] {
  return [
    humanText('Look.'),
    ...results.flatMap((result, at) => [
      aiContent([toolCall(idOf(at), 'look', { path: `src/${at}.ts` })]),
      toolContent([toolResponse(idOf(at), 'look', result)]),
    ]),
    humanText('And now?'),
  ];
}

function responsesOf(history: readonly IContent[]): ToolResponseBlock[] {
  return history.flatMap(({ blocks }) => blocks.filter(isToolResponseBlock));
}

/** Runs one window of a session; returns the history after it. */
async function compact(
  compactor: Compactor,
  options: SessionOptions,
): Promise<readonly IContent[]> {
  const session = await compactor.createSession(options);
  await session.ensureCompressionBeforeSend('p');
  return session.history.getAll();
}

describe('a placeholder', () => {
  it('says how to recall the original if a transcript is kept', async () => {
    const removalLogPath = temporaryPath();
    const left = await compact(openPruning(), { history: talkOf(['a\nb', 'c']), removalLogPath });
    expect(responsesOf(left).map(({ result }) => result)).toEqual([
      '[look: src/0.ts — success, 2 lines; recall("call_0") for the original]',
      'c',
    ]);
  });

  it('names only the id if none is kept', async () => {
    const left = await compact(openPruning(), { history: talkOf(['a\nb', 'c']) });
    expect(responsesOf(left)[0]?.result).toBe('[look: src/0.ts — success, 2 lines; id "call_0"]');
  });

  it('says how to recall if the host says that it returns originals itself', async () => {
    const history = talkOf(['a\nb', 'c']);
    const left = await compact(openPruning(), { history, canRecall: true });
    expect(responsesOf(left)[0]?.result).toContain('recall("call_0") for the original');
    const no = openPruning().createSession({ canRecall: 'yes' as unknown as boolean });
    await expect(no).rejects.toThrow(
      new TypeError('Expected canRecall to be a boolean, got the string "yes".'),
    );
  });

  it('is the fixed string unless it is set otherwise', async () => {
    const compactor = openPruning({ settings: { 'compression.density.placeholder': undefined } });
    const removalLogPath = temporaryPath();
    const left = await compact(compactor, { history: talkOf(['a\nb', 'c']), removalLogPath });
    expect(responsesOf(left)[0]?.result).toBe(PRUNED_POINTER);
  });

  it.each([
    ['a compression', 0.5, 0.3, { compressed: 'applied', fitted: undefined }],
    ['the last resort of the window', 1, 1, { compressed: 'rejected', fitted: 1 }],
  ])('names the id in the summaries of %s', async (_, threshold, preserveThreshold, expected) => {
    const compactor = openPruning({
      contextLimit: 1_500,
      settings: {
        'compression.threshold': threshold,
        'compression.preserveThreshold': preserveThreshold,
        'compression.density.recencyPruning': false,
      },
    });
    const session = await compactor.createSession({
      history: talkOf(['a line of text\n'.repeat(300), 'another line\n'.repeat(200), 'short']),
      removalLogPath: temporaryPath(),
    });
    const { compressed, fitted } = await session.ensureCompressionBeforeSend('p');
    expect({ compressed: compressed?.outcome, fitted: fitted?.summarizedEntries }).toEqual(
      expected,
    );
    expect(responsesOf(session.history.getAll())[0]?.result).toBe(
      '[look: src/0.ts — success, 301 lines; recall("call_0") for the original]',
    );
  });

  it('does not change with the setting, or by a compression', async () => {
    const compactor = openPruning();
    const session = await compactor.createSession({ history: talkOf(['a', 'b', 'c']) });
    await session.ensureCompressionBeforeSend('p1');
    const [first] = responsesOf(session.history.getAll());
    for (const style of ['pointer', 'informative', 'pointer'] as const) {
      session.settings.set('compression.density.placeholder', style);
      session.settings.set('compression.preserveThreshold', 0);
      session.history.add(humanText('Go on.'));
      await session.ensureCompressionBeforeSend('p2');
      await session.performCompression('p2');
      expect(responsesOf(session.history.getAll())[0]).toEqual(first);
    }
  });
});

describe('Compactor', () => {
  /** Any text that JSON can represent, with characters of every plane, lone surrogates and NUL. */
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 60 }),
    fc
      .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
      .map((units) => String.fromCharCode(...units)),
    fc.constantFrom('\u0000', '\ud800', '\udfff\ud800', '\u2028', PRUNED_POINTER, '\\u0000'),
  );
  /** Results that look like placeholders. */
  const lookalike = fc.constantFrom(
    '[look: src/0.ts — success, 2 lines]',
    ...[0, 1, 2].map((at) => `[look: x — success; recall("call_${at}") for the original]`),
    '[look: x — error, 3 lines; id "call_1"]',
  );
  const { value } = fc.letrec<{ value: unknown }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      text,
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.array(tie('value'), { maxLength: 4 }),
      fc.dictionary(fc.oneof(text, fc.constant('__proto__')), tie('value'), {
        maxKeys: 4,
        noNullPrototype: true,
      }),
    ),
  }));
  const huge = fc
    .tuple(text, fc.integer({ min: 1_000, max: 20_000 }))
    .map(([unit, times]) => `${unit}x`.repeat(times));
  const result = fc.oneof(
    { weight: 6, arbitrary: value },
    { weight: 2, arbitrary: lookalike },
    { weight: 1, arbitrary: huge },
  );

  it('recalls the original of an excerpt, and lists it once', async () => {
    const output = 'readFile of output\n'.repeat(200);
    const removalLogPath = temporaryPath();
    const compactor = openPruning({ settings: { 'compression.density.recencyPruning': false } });
    const session = await compactor.createSession({
      history: [
        humanText('Run it.'),
        aiContent([toolCall('run', 'shell', { command: 'npm test' })]),
        toolContent([toolResponse('run', 'shell', output)]),
      ],
      removalLogPath,
      density: { toolCatalog: { shell: runsCommands() }, workingSet: EXCERPTS },
    });
    const seen: unknown[] = [];
    for (const said of ['It runs.', 'And on.', 'And on.']) {
      await session.ensureCompressionBeforeSend('p');
      seen.push(responsesOf(session.history.getAll())[0]?.result);
      session.history.add(aiContent(said));
    }
    const [whole, excerpt, later] = seen;
    expect([whole, isExcerpt(excerpt), later]).toEqual([output, true, excerpt]);
    expect(excerpt).toContain('recall("run")');
    expect(excerpt).toContain('It named: readFile');

    const restored = await session.restore('run');
    expect(restored.response.result).toBe(output);
    expect((await restore(removalLogPath, 'run', session)).response.result).toBe(output);
    const listed = await listRemoved(removalLogPath, session);
    expect(listed.map(({ callId, size }) => [callId, size?.amount])).toEqual([['run', 201]]);
  });

  it('recalls to the byte whatever any session removed, also after a restart', async () => {
    const seen = { recalled: 0, afterRestart: 0, lookalikes: 0, removed: 0 };
    const settings = fc.record({
      'compression.density.placeholder': fc.constantFrom('pointer', 'informative'),
      'compression.strategy': fc.constantFrom('high-density', 'top-down-truncation'),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(result, { minLength: 2, maxLength: 8 }),
        settings as fc.Arbitrary<NonNullable<CompactorOptions['settings']>>,
        fc.integer({ min: 60, max: 2_000 }),
        async (results, given, contextLimit) => {
          // The pointer of the specification is no original: nothing distinguishes one from another.
          fc.pre(!results.includes(PRUNED_POINTER));
          const removalLogPath = temporaryPath();
          const options = { settings: given, contextLimit };
          const history = talkOf(structuredClone(results));
          const first = openPruning(options);
          const session = await first.createSession({ history, removalLogPath });
          await session.ensureCompressionBeforeSend('p1').catch(() => undefined);
          const left = session.history.getAll();
          await expectOriginals(first, results, left);
          await first.close();

          // The compacted history continues in another session of another process, and arrives as JSON.
          const again = openPruning(options);
          const next = await again.createSession({
            history: JSON.parse(JSON.stringify(left)) as IContent[],
            removalLogPath,
          });
          next.history.add(humanText('Go on.'));
          await next.ensureCompressionBeforeSend('p2').catch(() => undefined);
          await next.performCompression('p3').catch(() => undefined);
          const leftNow = next.history.getAll();
          seen.afterRestart += await expectOriginals(again, results, leftNow);
          await again.close();
          const listed = await listRemoved(removalLogPath, ALL);
          seen.removed += listed.length;
          for (const { callId } of listed) {
            const { response } = await restore(removalLogPath, callId, ALL);
            const original = results[Number(callId.slice('call_'.length))];
            expect(JSON.stringify(response.result)).toBe(JSON.stringify(original));
          }
        },
      ),
      { numRuns: runs(150), examples: [[[0, LOOKALIKE, LOOKALIKE, LOOKALIKE], POINTERS, 165]] },
    );
    expect(seen.recalled).toBeGreaterThan(sightings(200));
    expect(seen.afterRestart).toBeGreaterThan(sightings(200));
    expect(seen.lookalikes).toBeGreaterThan(sightings(20));
    expect(seen.removed).toBeGreaterThan(sightings(200));

    async function expectOriginals(
      compactor: Compactor,
      results: readonly unknown[],
      left: readonly IContent[],
    ): Promise<number> {
      const present = new Map(responsesOf(left).map((block) => [block.callId, block.result]));
      let recalled = 0;
      for (const [at, original] of results.entries()) {
        const callId = `call_${at}`;
        const json = JSON.stringify(original);
        if (JSON.stringify(present.get(callId)) === json) continue;
        const { response } = await compactor.restore(callId, ALL);
        expect(response.result).toStrictEqual(original);
        expect(JSON.stringify(response.result)).toBe(json);
        recalled += 1;
        const block = toolResponse(callId, 'look', original);
        if (placeholderKind(block) !== 'none') seen.lookalikes += 1;
      }
      seen.recalled += recalled;
      return recalled;
    }
  });

  it('finds an original in whichever transcript has it, the latest of several', async () => {
    const compactor = openPruning();
    const paths = [temporaryPath(), temporaryPath()] as const;
    await compact(compactor, {
      sessionId: 'one',
      history: talkOf(['of one', 'x']),
      removalLogPath: paths[0],
    });
    await compact(compactor, {
      sessionId: 'two',
      history: talkOf(['of two', 'y', 'z']),
      removalLogPath: paths[1],
    });
    expect((await compactor.restore('call_1', ALL)).response.result).toBe('y');
    const { sessionId } = await compactor.restore('call_0', ALL);
    const latest = (await restore(paths[1], 'call_0', ALL)).recordedAt;
    const earlier = (await restore(paths[0], 'call_0', ALL)).recordedAt;
    expect(latest > earlier ? ['two'] : ['one', 'two']).toContain(sessionId);
    const ofOne = await compactor.restore('call_0', { sessionId: 'one' });
    expect(ofOne.response.result).toBe('of one');
  });

  it('finds it in the store of a named session without a removal log, in a later process too', async () => {
    const store = memoryStore();
    const history = talkOf(['a\nb', 'c']);
    for (let process = 0; process < 2; process += 1) {
      const compactor = openPruning({ store });
      await compact(compactor, { sessionId: 'one', history });
      const { response } = await compactor.restore('call_0', { sessionId: 'one' });
      expect(response.result).toBe('a\nb');
      await expect(compactor.restore('call_0', { sessionId: 'two' })).rejects.toThrow('No open');
      await expect(compactor.restore('none', { sessionId: 'one' })).rejects.toThrow('The store');
      await compactor.close();
    }
  });

  it('names an id of a call that is no text', async () => {
    const restoring = openPruning().restore(undefined as never, ALL);
    await expect(restoring).rejects.toThrow('Expected callId to be a string, got undefined.');
  });

  it('reports that no session has it, or that none keeps a transcript', async () => {
    const compactor = openPruning();
    await expect(compactor.restore('call_0', ALL)).rejects.toMatchObject({
      code: 'NOT_IN_REMOVAL_LOG',
      message: expect.stringContaining('removalLogPath'),
    });
    const removalLogPath = temporaryPath();
    const session = await compactor.createSession({ history: talkOf(['a']), removalLogPath });
    const expected = { code: 'NOT_IN_REMOVAL_LOG', message: expect.stringContaining('call_0') };
    await expect(compactor.restore('call_0', ALL)).rejects.toMatchObject(expected);
    await session.close();
    await expect(compactor.restore('call_0', ALL)).rejects.toThrow(
      /removalLogPath.*not open.*ctxfold\/removal-log/,
    );
  });
});
