// Reasoning that is bound to what precedes it: which edits a model with preserved thinking accepts, by the tables of the providers; and that sessions make no
// other edits.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCompactor } from '../../../src/main/compactor.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../../src/shared/content.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { providerEntry } from '../../../src/main/strategies/provider-compaction.js';
import { validate } from '../../../src/shared/providers/validate.js';
import { runs } from '../../support/scale.js';

function thought(name: string): ContentBlock {
  return { type: 'thinking', thought: name, signature: `rs_${name}` };
}

/** Each step has thinking, the read of a file, and its result. */
function step(name: string, file = `${name}.ts`): readonly IContent[] {
  return [
    aiContent([thought(name), toolCall(name, 'read_file', { file_path: file })]),
    toolContent([toolResponse(name, 'read_file', `text of ${name} `.repeat(80))]),
  ];
}

const HISTORY: readonly IContent[] = [humanText('go'), ...step('a'), ...step('b'), ...step('c')];
/** The request before each answer. */
const SENT = [HISTORY.slice(0, 1), HISTORY.slice(0, 3), HISTORY.slice(0, 5)];

const withoutThought = (entry: IContent): IContent => ({
  ...entry,
  blocks: entry.blocks.filter(({ type }) => type !== 'thinking'),
});
const withoutThoughts = (...at: readonly number[]): readonly IContent[] =>
  HISTORY.map((entry, index) => (at.includes(index) ? withoutThought(entry) : entry));
const replaced = (index: number, entry: IContent): readonly IContent[] =>
  HISTORY.map((each, at) => (at === index ? entry : each));

/** For each entry with bound reasoning that is now invalid, the entry that caused it. */
function boundIn(
  history: readonly IContent[],
  sentBefore: readonly (readonly IContent[])[] = SENT,
): readonly (readonly [number | undefined, number | undefined])[] {
  return validate(history, 'anthropic', { sentBefore })
    .filter(({ rule }) => rule === 'reasoning-bound')
    .map(({ entry, causedBy }) => [entry, causedBy]);
}

describe('reasoning', () => {
  it('stays valid if nothing is changed, entries are appended, or thinking is removed from the start, the end or altogether', () => {
    expect(boundIn(HISTORY)).toEqual([]);
    expect(boundIn([...HISTORY, humanText('more')], [...SENT, HISTORY])).toEqual([]);
    const marked = { ...humanText('go'), metadata: { providerMetadata: { cache_control: {} } } };
    expect(boundIn(replaced(0, marked))).toEqual([]);
    expect(boundIn(withoutThoughts(1))).toEqual([]);
    expect(boundIn(withoutThoughts(1, 3))).toEqual([]);
    expect(boundIn(withoutThoughts(5))).toEqual([]);
    expect(boundIn(withoutThoughts(3, 5))).toEqual([]);
    expect(boundIn(withoutThoughts(1, 3, 5))).toEqual([]);
    expect(boundIn(structuredClone(HISTORY) as IContent[])).toEqual([]);
  });

  it('is invalid if what precedes it was shortened, reworded, removed, inserted or moved', () => {
    const short = toolContent([toolResponse('a', 'read_file', 'pruned')]);
    expect(boundIn(replaced(2, short))).toEqual([
      [3, 2],
      [5, 2],
    ]);
    expect(boundIn(replaced(0, humanText('gone')))).toEqual([
      [1, 0],
      [3, 0],
      [5, 0],
    ]);
    expect(boundIn([HISTORY[0]!, ...HISTORY.slice(3)])).toEqual([
      [1, 1],
      [3, 1],
    ]);
    expect(boundIn([...HISTORY.slice(0, 3), humanText('so'), ...HISTORY.slice(3)])).toEqual([
      [4, 3],
      [6, 3],
    ]);
    expect(
      boundIn([...HISTORY.slice(0, 1), ...step('b'), ...step('a'), ...step('c')]),
    ).toHaveLength(3);
  });

  it('is invalid if reasoning was removed from the middle, or restored', () => {
    expect(boundIn(withoutThoughts(3))).toEqual([[5, 1]]);
    const without = withoutThoughts(1, 3);
    const sent = [...SENT, without, [...without, ...step('d')]];
    expect(boundIn([...without, ...step('d')], sent)).toEqual([]);
    expect(boundIn([...HISTORY, ...step('d')], sent)).toEqual(
      [[7, 5]].map(([entry]) => [entry, 3]),
    );
  });

  it('is found if only some of the former requests are known', () => {
    const short = toolContent([toolResponse('a', 'read_file', 'pruned')]);
    for (const sent of [
      [HISTORY],
      [HISTORY.slice(0, 1), HISTORY],
      [HISTORY.slice(0, 3), HISTORY],
    ]) {
      expect(boundIn(HISTORY, sent)).toEqual([]);
      expect(boundIn([...HISTORY, ...step('d')], sent)).toEqual([]);
      expect(boundIn(withoutThoughts(1), sent)).toEqual([]);
      expect(boundIn(withoutThoughts(3, 5), sent)).toEqual([]);
      expect(boundIn(withoutThoughts(3), sent)).toEqual([[5, 1]]);
      expect(boundIn(replaced(2, short), sent)).toEqual([
        [3, 2],
        [5, 2],
      ]);
      expect(boundIn(replaced(4, short), sent)).toEqual([[5, 4]]);
    }
  });

  it('is compared once with a request of many replies', () => {
    const long = Array.from({ length: 20_000 }, (_, at) => step(`${at}`)).flat();
    const start = performance.now();
    expect(boundIn(structuredClone(long), [long])).toEqual([]);
    expect(performance.now() - start).toBeLessThan(10_000);
  });

  it('is reported in the words of each provider, and not at all without the former requests', () => {
    const history = replaced(2, toolContent([toolResponse('a', 'read_file', 'pruned')]));
    expect(validate(history, 'anthropic')).toEqual([]);
    const [first] = validate(history, 'anthropic', { sentBefore: SENT });
    expect(first?.message).toContain(
      'messages.3.content.0: Invalid `signature` in `thinking` block.',
    );
    const [silent] = validate(history, 'openai-responses', { sentBefore: SENT });
    expect(silent?.message).toBe(
      'input_transformations: {"type":"reasoning","action":"removed","id":"rs_b","reason":"prefix_mismatch"}',
    );
  });

  it('is not checked against an invalid history', () => {
    expect(() => validate(HISTORY, 'anthropic', { sentBefore: 5 as never })).toThrow(TypeError);
    expect(() => validate(HISTORY, 'anthropic', { sentBefore: [5] as never })).toThrow(
      'sent before',
    );
  });
});

describe('reasoning behind a compaction of the provider', () => {
  const block = (tokens: number, sealed = 'first'): IContent =>
    providerEntry({ kind: 'compaction', data: { sealed }, tokens });
  const KEPT = HISTORY.slice(3);
  const OTHER: ContentBlock = { type: 'text', text: 'something else' };

  it('stays valid if what follows the compaction is unchanged', () => {
    expect(boundIn([block(9), ...KEPT])).toEqual([]);
    expect(boundIn([block(9), ...HISTORY.slice(5)])).toEqual([]);
    // Requests behind the compaction are compared as they are without one.
    const sent = [...SENT, [block(9), ...KEPT]];
    const next = [block(9), ...KEPT, ...step('d'), humanText('more')];
    expect(boundIn(next, sent)).toEqual([]);
    expect(boundIn([...HISTORY, ...next], sent)).toEqual([]);
    // A second one, of the first and what followed it, with as many tokens.
    const second = [block(9, 'second'), ...step('d'), humanText('more')];
    expect(boundIn(second, [...sent, next])).toEqual([]);
    expect(boundIn(structuredClone(second), structuredClone([...sent, next]))).toEqual([]);
  });

  it('is invalid if what follows the compaction was changed', () => {
    const shortened = replaced(4, toolContent([toolResponse('b', 'read_file', 'short')])).slice(3);
    expect(boundIn([block(9), ...shortened])).toEqual([[3, 2]]);
    expect(boundIn([block(9), humanText('a note'), ...KEPT])).toEqual([
      [2, 1],
      [4, 1],
    ]);
    // Whichever kept entry was changed, it is named.
    const kept = [block(9), ...HISTORY];
    for (const at of [1, 2, 3, 4]) {
      const edited = kept.map((entry, index) =>
        index === at ? { ...entry, blocks: [OTHER] } : entry,
      );
      const bound = [2, 4, 6].filter((entry) => entry > at);
      expect(boundIn(edited)).toEqual(bound.map((entry) => [entry, at]));
    }
    // What the user said between two answers, right behind the block.
    const talk: IContent[] = ['a', 'b', 'c'].flatMap((name) => [
      humanText(`on ${name}`),
      aiContent([thought(name), { type: 'text', text: `said ${name}` }]),
    ]);
    const talked = [1, 3, 5].map((length) => talk.slice(0, length));
    expect(boundIn([block(9), ...talk.slice(1)], talked)).toEqual([]);
    expect(boundIn([block(9), ...talk.slice(5)], talked)).toEqual([]);
    expect(boundIn([block(9), ...talk.filter((_, at) => at % 2 === 1)], talked)).toEqual([
      [2, 2],
      [3, 2],
    ]);
    expect(boundIn([block(9), ...talk.slice(1).filter((_, at) => at !== 1)], talked)).toEqual([
      [2, 2],
      [4, 2],
    ]);
    const sent = [...SENT, [block(9), ...KEPT], [block(9), ...KEPT, ...step('d')]];
    const without = [block(9), ...KEPT.slice(2), ...step('d')];
    expect(boundIn(without, sent).length).toBeGreaterThan(0);
  });
});

describe('a session that strips reasoning behind its edits', () => {
  const steps = fc.array(fc.record({ file: fc.nat(3), writes: fc.boolean() }), {
    minLength: 4,
    maxLength: 14,
  });

  async function play(
    script: readonly { readonly file: number; readonly writes: boolean }[],
    reasoning: 'strip-after-first-edit' | 'keep',
  ): Promise<number> {
    await using compactor = createCompactor({
      offload: 'inline',
      tokenizer: 'estimate',
      workspaceRoot: '/w',
    });
    const session = await compactor.createSession({ edits: 'every-turn', reasoning });
    session.history.add(humanText('go'));
    const sentBefore: (readonly IContent[])[] = [];
    let bound = 0;
    for (const [at, { file, writes }] of script.entries()) {
      await session.ensureCompressionBeforeSend('p');
      const sent = session.history.getAll();
      bound += boundIn(sent, sentBefore).length;
      sentBefore.push(sent);
      const call = writes
        ? toolCall(`${at}`, 'write_file', { file_path: `${file}.ts`, content: 'new' })
        : toolCall(`${at}`, 'read_file', { file_path: `${file}.ts` });
      const thinking = { ...thought(`${at}`), signature: `signed ${at}` };
      session.history.add(aiContent([thinking, call]));
      session.history.add(toolContent([toolResponse(`${at}`, call.name, `${at} `.repeat(200))]));
    }
    return bound;
  }

  it('never sends reasoning that is bound to something else', async () => {
    let edited = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (script) => {
        expect(await play(script, 'strip-after-first-edit')).toBe(0);
        // The same without stripping: the check finds what would have been refused.
        if ((await play(script, 'keep')) > 0) edited += 1;
      }),
      { numRuns: runs(400, 12) },
    );
    expect(edited).toBeGreaterThan(0);
  });
});
