// Each rule of a valid history, broken once; and what a compacted history must keep of its base.

import { describe, expect, it } from 'vitest';

import type { IContent } from '../../src/shared/content.js';
import { findViolations } from '../../src/shared/validity.js';
import { historyOf } from '../support/notation.js';
import { busyMs } from '../support/busy-time.js';

/** Describes violations as `rule@entry` or `rule@entry.block`. */
function breaches(history: readonly IContent[], base?: readonly IContent[]): string {
  return findViolations(history, base)
    .map(({ rule, entry, block }) => `${rule}@${entry}${block === undefined ? '' : `.${block}`}`)
    .join(' ');
}

/** Copies all objects of a history, as loading a session does. */
function copyOf(history: readonly IContent[]): IContent[] {
  return structuredClone(history) as IContent[];
}

describe('findViolations', () => {
  describe('in one history', () => {
    it.each([
      ['an empty history', ''],
      ['a conversation', 'h a h a'],
      ['calls with responses', 'h a:r1,w2 t:r1,w2 a'],
      ['responses over several entries, in any order', 'h a:r1,w2,s3 t:s3 t:w2,r1 a'],
      ['reasoning beside a call', 'h a:*s1,r1 t:r1'],
      ['blank text beside text', 'h:_,hello a:_,okay'],
      ['a picture alone', 'h:% a'],
      ['an opaque block alone', 'h:&note a:&note t:&approval=r9'],
      ['a call that is still running', 'h a:r1,w2 t:r1'],
      ['an incomplete response', 'h a:r1 t:r1?'],
      ['a response that follows an incomplete one', 'h a:r1 t:r1? t:r1 a'],
      ['an id that is used again after it was answered', 'h a:r1 t:r1 a:r1 t:r1 h a:r1'],
      ['two open calls with one id', 'a:r1,r1 t:r1,r1 a'],
      ['a late response', 'h a:r1 a t:r1 h'],
    ])('accepts %s', (_, notation) => {
      expect(breaches(historyOf(notation))).toBe('');
    });

    it.each([
      ['a call without response', 'h a:okay,r1 h', 'unpaired-call@1.1'],
      ['a call without response before more calls', 'a:r1 a:w2 t:w2', 'unpaired-call@0.0'],
      ['a call with an incomplete response', 'a:r1 t:r1? a', 'unpaired-call@0.0'],
      ['one response for two calls of an id', 'a:r1 a:r1 t:r1 a', 'unpaired-call@0.0'],
      ['a response without call', 'h t:r1', 'unpaired-response@1.0'],
      ['an incomplete response without call', 'h t:r1?', 'unpaired-response@1.0'],
      ['a response before its call', 'h t:r1 a:r1', 'response-before-call@1.0'],
      ['a second response', 'a:r1 t:r1 a t:r1', 'duplicate-response@3.0'],
      ['an incomplete response after the complete one', 'a:r1 t:r1,r1?', 'duplicate-response@1.1'],
      ['a call in a human entry', 'h:r1 t:r1', 'call-outside-ai@0.0'],
      ['a response in an ai entry', 'a:r1 a:>r1', 'response-outside-tool@1.0'],
      ['an entry without blocks', 'h a: h', 'empty-entry@1'],
      ['an entry of blanks', 'h:_,"\\n" a', 'empty-entry@0'],
      ['a tool entry without responses', 'h t a', 'empty-entry@1'],
      ['reasoning and nothing else', 'h a:*s1,_', 'reasoning-only@1'],
      ['human reasoning', 'h:*s1', 'empty-entry@0'],
    ])('reports %s', (_, notation, expected) => {
      expect(breaches(historyOf(notation))).toBe(expected);
    });

    it('reports everything, by entry and block', () => {
      expect(breaches(historyOf('t:r9,r1 a:r1,r2 h:_ a: t:r1,r1'))).toBe(
        'unpaired-response@0.0 response-before-call@0.1 unpaired-call@1.1 empty-entry@2 ' +
          'empty-entry@3 duplicate-response@4.1',
      );
    });

    it('reports half of a surrogate pair in any text', () => {
      const [high, low] = ['\ud83d', '\ude00'];
      expect(breaches(historyOf(`h:"whole ${high}${low}"`))).toBe('');
      expect(breaches(historyOf(`h:okay,"half ${high}"`))).toBe('lone-surrogate@0.1');
      expect(breaches(historyOf(`h a:\`${low}\``))).toBe('lone-surrogate@1.0');
      expect(breaches(historyOf(`a:r1(=[{"deep":["${low}"]}])`))).toBe('lone-surrogate@0.0');
      expect(breaches(historyOf(`a:r1 t:r1(=[{"${high}":1}])`))).toBe('lone-surrogate@1.0');
    });

    it('checks results of any depth', () => {
      let result: unknown = '\ud83d';
      for (let depth = 0; depth < 100_000; depth += 1) result = [result];
      const history: IContent[] = [
        ...historyOf('a:r1'),
        {
          speaker: 'tool',
          blocks: [{ type: 'tool_response', callId: 'r1', toolName: 'read_file', result }],
        },
      ];
      expect(breaches(history)).toBe('lone-surrogate@1.0');
    });
  });

  describe('with a base', () => {
    const base = historyOf('h:one a:*s1,r1,r2(b.ts) t:r1,r2 a:done,*s2 h:two a:*s3,w3 t:w3 a:end');
    const entryOf = (at: number): IContent => base[at] ?? { speaker: 'ai', blocks: [] };
    const withBlocks = (at: number, keep: (block: number) => boolean): IContent => ({
      ...entryOf(at),
      blocks: entryOf(at).blocks.filter((_, block) => keep(block)),
    });
    const human = (text: string): IContent => ({
      speaker: 'human',
      blocks: [{ type: 'text', text }],
    });

    it('accepts the base itself and a copy of it', () => {
      expect(breaches(base, base)).toBe('');
      expect(breaches(copyOf(base), base)).toBe('');
    });

    it('accepts removed, shortened and new entries', () => {
      const summary = { ...human('all so far'), metadata: { isSummary: true } };
      const shortened = withBlocks(1, (block) => block !== 2);
      const responses = withBlocks(2, (block) => block === 0);
      expect(breaches([summary, shortened, responses, ...base.slice(4)], base)).toBe('');
      expect(breaches(copyOf([summary, shortened, responses, ...base.slice(4)]), base)).toBe('');
    });

    it('accepts that reasoning is removed as a whole', () => {
      const history = base.with(
        3,
        withBlocks(3, (block) => block === 0),
      );
      expect(breaches(history, base)).toBe('');
    });

    it.each(['thought', 'signature', 'encryptedContent'])('reports a changed %s', (field) => {
      const entry = entryOf(1);
      const blocks = entry.blocks.map((block) =>
        block.type === 'thinking' ? { ...block, [field]: 'changed' } : block,
      );
      expect(breaches(base.with(1, { ...entry, blocks }), base)).toBe('opaque-changed@1.0');
      expect(breaches(copyOf(base.with(1, { ...entry, blocks })), base)).toBe('opaque-changed@1.0');
    });

    it('reports reasoning that is new, duplicated or moved to another entry', () => {
      const [thinking] = entryOf(1).blocks;
      const [text, end] = entryOf(3).blocks;
      if (thinking === undefined || text === undefined || end === undefined) throw new Error();
      const moved = (blocks: IContent['blocks']): IContent[] =>
        base.with(3, { ...entryOf(3), blocks });
      expect(breaches(moved([text, end, end]), base)).toBe('opaque-changed@3.2');
      expect(breaches(moved([text, thinking]), base)).toBe('opaque-changed@3.1');
      expect(breaches([...historyOf('a:fresh,*s9'), ...base], base)).toContain(
        'opaque-changed@0.1',
      );
    });

    it.each([
      ['is unchanged', 'h:&one a:two,&two=r1,r1 t:r1,&three', ''],
      ['is removed', 'h:&one a:two,r1 t:r1', ''],
      ['has other tokens', 'h:&one a:two,&two(9)=r1,r1 t:r1', 'opaque-changed@1.1'],
      ['is of another kind', 'h:&one a:two,&other=r1,r1 t:r1', 'opaque-changed@1.1'],
      ['belongs to another call', 'h:&one a:two,&two=r2,r1 t:r1', 'opaque-changed@1.1'],
      ['is duplicated', 'h:&one a:two,&two=r1,&two=r1,r1 t:r1', 'opaque-changed@1.2'],
      ['is in another entry', 'h:&one a:two,r1,&three t:r1', 'opaque-changed@1.2'],
      ['is new', 'h:&one a:fresh,&fresh a:&two=r1,r1 t:r1', 'opaque-changed@1.1'],
    ])('is right about an opaque block that %s', (_, notation, expected) => {
      const sealed = historyOf('h:&one a:two,&two=r1,r1 t:r1,&three');
      expect(breaches([...historyOf(notation), ...sealed.slice(3)], sealed)).toBe(expected);
    });

    it('recognizes a copy of an entry by the call of its opaque block', () => {
      const asked = historyOf('h:one t:&ask=r1,&note t:&ask=r2,&note');
      const [human, first, second] = copyOf(asked);
      if (human === undefined || first === undefined || second === undefined) throw new Error();
      expect(breaches([human, first, second], asked)).toBe('');
      expect(breaches([human, second, first], asked)).toBe('out-of-order@2');
    });

    it('reports reasoning in another order', () => {
      const twice = historyOf('h a:*s1,*s2,okay');
      const [thinking, other, text] = twice[1]?.blocks ?? [];
      if (thinking === undefined || other === undefined || text === undefined) throw new Error();
      const swapped = twice.with(1, { speaker: 'ai', blocks: [other, thinking, text] });
      expect(breaches(swapped, twice)).toBe('opaque-changed@1.1');
    });

    it('reports changed provider metadata of entries that stay', () => {
      const signed: IContent[] = base.map((entry, at) => ({
        ...entry,
        metadata: { id: `m${at}`, providerMetadata: { thoughtSignature: `t${at}` } },
      }));
      expect(breaches(copyOf(signed).slice(3), signed)).toBe('');
      const history = signed.with(5, { ...entryOf(5), metadata: { id: 'm5' } });
      expect(breaches(history, signed)).toBe('opaque-changed@5');
      expect(breaches(copyOf(history), signed)).toBe('opaque-changed@5');
    });

    it('reports entries that were reordered or duplicated', () => {
      const swapped = base.with(0, entryOf(3)).with(3, entryOf(0));
      expect(breaches(swapped, base)).toBe('out-of-order@1 out-of-order@2 out-of-order@3');
      expect(breaches(copyOf(swapped), base)).toBe('out-of-order@1 out-of-order@2');
      expect(breaches([...base, entryOf(7)], base)).toBe('out-of-order@8');
    });

    it('accepts a new entry with the content of a kept one', () => {
      expect(breaches([...historyOf('h:sum a:end'), ...base.slice(3)], base)).toBe('');
      expect(breaches([...base, ...historyOf('a:end')], base)).toBe('');
    });

    it('reports nothing about copies that cannot be distinguished', () => {
      const alike = historyOf('h a:*s1,r1 t:r1 a:*s1,r1 t:r1 h:two');
      expect(breaches(copyOf(alike.slice(3)), alike)).toBe('');
    });

    it('accepts a shortened text that equals another one', () => {
      const two = historyOf('h:@b.ts a h:@a.ts+@b.ts h:@a.ts');
      const history = [human('gone'), ...two.slice(1, 2), ...historyOf('h:@b.ts'), ...two.slice(3)];
      expect(breaches(history, two)).toBe('');
    });

    it('accepts objects that occur several times in the base', () => {
      const [one] = historyOf('h:again');
      if (one === undefined) throw new Error();
      const many = Array.from({ length: 5 }, () => one);
      expect(breaches(many.slice(2), many)).toBe('');
      expect(breaches([...many, one], many)).toBe('out-of-order@5');
    });

    it('reports that the newest human entry was removed', () => {
      expect(breaches(base.slice(0, 4), base)).toBe('newest-human-lost@4');
      expect(breaches([human('sum'), ...base.slice(5)], base)).toBe('newest-human-lost@4');
    });

    it('accepts a newest human entry that was cut in new objects', () => {
      const doubled = historyOf('h:one a h:see+@a.ts(old)+then+@a.ts(new)');
      expect(breaches([...doubled.slice(0, 2), human('see then')], doubled)).toBe('');
      expect(breaches([...doubled.slice(0, 2), human('then see')], doubled)).toBe(
        'newest-human-lost@2',
      );
    });

    it('lets a summary replace an older summary, but not the last question', () => {
      const summed = [
        { ...human('sum'), metadata: { isSummary: true } },
        ...historyOf('a:r1 t:r1'),
      ];
      const again = [{ ...human('more'), metadata: { isSummary: true } }, ...historyOf('a')];
      expect(breaches(again, summed)).toBe('');
      expect(breaches(again, [...historyOf('h:ask'), ...summed])).toBe('newest-human-lost@0');
    });
  });

  it('takes linear time', () => {
    const turn = historyOf('h:again a:*s1,r1,r1 t:r1,r1');
    const history = Array.from({ length: 7_000 }, () => turn).flat();
    const started = process.cpuUsage();
    expect(breaches(history, history)).toBe('');
    expect(breaches(history.slice(10_000), history)).toBe('');
    expect(busyMs(started)).toBeLessThan(2_800);
  });
});
