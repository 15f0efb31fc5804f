// Attribution of the edits of density passes and compressions to rules.

import { describe, expect, test } from 'vitest';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../../src/index.js';
import { applyDensityResult, listRuleEdits, optimize } from '../../../src/density.js';
import type { DensityConfig } from '../../../src/density.js';
import type { EntryChange, IContent } from '../../../src/index.js';
import { attributeCompression, attributePass } from '../../../src/cli/measure/attribution.js';
import type { Attribution } from '../../../src/cli/measure/attribution.js';
import { historyDifference } from '../../../src/cli/measure/entry-difference.js';
import { countEntryTokens } from '../../../src/shared/tokens/count-tokens.js';

const CONFIG: DensityConfig = {
  readWritePruning: true,
  fileDedupe: true,
  recencyPruning: true,
  recencyRetention: 1,
  workspaceRoot: '/w',
};

const read = (id: string, path = 'a.ts'): ReturnType<typeof toolCall> =>
  toolCall(id, 'read_file', { path });
const write = (id: string): ReturnType<typeof toolCall> =>
  toolCall(id, 'write_file', { path: 'a.ts', content: 'x' });
const answer = (id: string, tool: string, result = 'some lines'): ReturnType<typeof toolResponse> =>
  toolResponse(id, tool, result);

/** The attributed changes of one density pass, and the resulting history. */
function densityPass(history: readonly IContent[], config: Partial<DensityConfig> = {}) {
  const result = optimize(history, { ...CONFIG, ...config });
  const changes: EntryChange[] = history.flatMap((before, index): EntryChange[] => {
    if (result.removals.includes(index)) return [{ index, before, after: null }];
    const after = result.replacements.get(index);
    return after === undefined ? [] : [{ index, before, after }];
  });
  const after = [...history];
  applyDensityResult(after, result);
  const attributions = attributePass(
    changes,
    listRuleEdits(result.rows ?? new Int32Array(), (index) => history[index]?.blocks),
  );
  return { attributions, after, metadata: result.metadata };
}

const count = (entry: IContent | null): number =>
  entry === null ? 0 : countEntryTokens(entry, (text) => text.length);
const total = (history: readonly IContent[]): number =>
  history.reduce((sum, entry) => sum + count(entry), 0);
const reclaimed = (attributions: readonly Attribution[]): number =>
  attributions.reduce((sum, { before, after }) => sum + count(before) - count(after), 0);
const outline = (attributions: readonly Attribution[]): readonly string[] =>
  attributions.map(({ rule, toolName, callId, items }) =>
    [rule, toolName ?? '-', callId ?? '-', items].join(' '),
  );

describe('attributePass', () => {
  test('a superseded read is one item that consists of call and response', () => {
    const history = [
      humanText('go'),
      aiContent([read('1')]),
      toolContent([answer('1', 'read_file')]),
      aiContent([write('2')]),
      toolContent([answer('2', 'write_file')]),
    ];
    const { attributions, after } = densityPass(history);
    expect(outline(attributions)).toEqual(['read-write read_file 1 1', 'read-write read_file 1 0']);
    expect(reclaimed(attributions)).toBe(total(history) - total(after));
  });

  test('parallel calls of one entry are distinguished, and reasoning belongs to the first', () => {
    const history = [
      aiContent([{ type: 'thinking', thought: 'hm' }, read('1'), read('2'), read('3', 'b.ts')]),
      toolContent([
        answer('1', 'read_file'),
        answer('2', 'read_file', 'again'),
        answer('3', 'read_file'),
      ]),
      aiContent([write('4')]),
      toolContent([answer('4', 'write_file')]),
    ];
    const kept = densityPass(history);
    expect(outline(kept.attributions).filter((line) => line.endsWith('1'))).toEqual([
      'read-write read_file 1 1',
      'read-write read_file 2 1',
    ]);
    expect(reclaimed(kept.attributions)).toBe(total(history) - total(kept.after));

    const [first, ...rest] = history;
    const alone = [{ ...first!, blocks: first!.blocks.slice(0, 3) }, ...rest];
    const removed = densityPass(alone);
    expect(removed.after[0]?.speaker).toBe('tool');
    expect(reclaimed(removed.attributions)).toBe(total(alone) - total(removed.after));
  });

  test('reasoning that is removed alone is counted, although no rule removed it', () => {
    const before = aiContent([{ type: 'thinking', thought: 'hm' }, read('1')]);
    const after = { ...before, blocks: before.blocks.slice(1) };
    const attributions = attributePass([{ index: 0, before, after }], []);
    expect(outline(attributions)).toEqual(['dropped-entry - - 1']);
    expect(reclaimed(attributions)).toBe(count(before) - count(after));
  });

  test('asks why of results that were sent, and not of shrunk ones', () => {
    const entries = ['1', '2'].map((id) => toolContent([answer(id, 'shell', 'long')]));
    const changes = entries.map((before, index) => {
      return { index, before, after: toolContent([answer(`${index + 1}`, 'shell', '')]) };
    });
    const edit = { block: 0, path: null };
    const asked: number[] = [];
    attributePass(
      changes,
      [
        { ...edit, entry: 0, rule: 'shrink', action: 'shrink' },
        { ...edit, entry: 1, rule: 'working-set', action: 'pointer' },
      ],
      (index) => {
        asked.push(index);
        return { index, speaker: 'tool', verdict: 'changed', blocks: [] };
      },
    );
    expect(asked).toEqual([1]);
  });

  test('a result that was replaced by the pointer is an old result, even if the pointer is longer', () => {
    const history = [
      aiContent([toolCall('1', 'shell', { command: 'ls' })]),
      toolContent([answer('1', 'shell', 'ok')]),
      aiContent([toolCall('2', 'shell', { command: 'ls' })]),
      toolContent([answer('2', 'shell', 'ok')]),
    ];
    const { attributions, after } = densityPass(history);
    expect(outline(attributions)).toEqual(['recency shell 1 1']);
    expect(reclaimed(attributions)).toBe(total(history) - total(after));
    expect(reclaimed(attributions)).toBeLessThan(0);
  });

  test('inclusions cut out of a text name their files', () => {
    const inclusion = (path: string): string => `--- ${path} ---\nbody\n--- End of content ---\n`;
    const history = [
      humanText(`${inclusion('a.ts')}look\n${inclusion('b.ts')}${inclusion('c.ts')}`),
      humanText(`${inclusion('a.ts')}${inclusion('b.ts')}`),
    ];
    const { attributions, after, metadata } = densityPass(history);
    expect(outline(attributions)).toEqual(['file-dedupe - - 2']);
    expect(attributions[0]?.includedPaths).toEqual(['a.ts', 'b.ts']);
    expect(metadata.fileDeduplicationsPruned).toBe(2);
    expect(reclaimed(attributions)).toBe(total(history) - total(after));
  });

  test('inclusions of whole blocks name their files, also when the pointer replaces all of them', () => {
    const entry = (body: string): IContent => ({
      speaker: 'human',
      blocks: [
        '--- Content from referenced files ---',
        'Content from @a.ts:\n',
        body,
        '--- End of content ---',
      ].map((text) => ({ type: 'text', text })),
    });
    const history = [entry('old'), entry('new')];
    const { attributions, after } = densityPass(history, {
      inclusionSyntaxes: ['delimited', 'referenced-files'],
    });
    expect(outline(attributions)).toEqual(['file-dedupe - - 1']);
    expect(attributions[0]?.includedPaths).toEqual(['a.ts']);
    expect(reclaimed(attributions)).toBe(total(history) - total(after));
  });
});

describe('attributeCompression', () => {
  const shared = humanText('go');
  const call = aiContent([toolCall('1', 'shell', { command: 'ls' })]);
  const response = toolContent([answer('1', 'shell', 'a long listing')]);
  const NO_MODEL = { isByModel: false, isInserted: () => false };

  test('a shorter result is summarized, a missing entry is dropped', () => {
    const old = aiContent('said long ago');
    const short = toolContent([answer('1', 'shell', '[shell]')]);
    const before = [old, shared, call, response];
    const after = [shared, call, short];
    const attributions = attributeCompression(historyDifference(before, after), NO_MODEL);
    expect(outline(attributions)).toEqual(['dropped-entry - - 1', 'summarized-result shell 1 1']);
    expect(reclaimed(attributions)).toBe(total(before) - total(after));
  });

  test('what an entry loses is dropped, if the rest of the entry stays', () => {
    const [one, other] = [toolCall('1', 'shell', {}), toolCall('2', 'search', {})];
    const before = [aiContent([one, other])];
    const after = [aiContent([one])];
    const attributions = attributeCompression(historyDifference(before, after), NO_MODEL);
    expect(outline(attributions)).toEqual(['dropped-entry search 2 1']);
    expect(reclaimed(attributions)).toBe(total(before) - total(after));
  });

  test("a model's summary is subtracted from the entries that it replaces", () => {
    const earlier = humanText('summary of what came before');
    const before = [earlier, call, response, shared];
    const after = [humanText('summary of it all'), shared];
    const attributions = attributeCompression(historyDifference(before, after), {
      isByModel: true,
      isInserted: (entry) => entry === earlier,
    });
    expect(outline(attributions)).toEqual([
      'folded-entry - - 0',
      'folded-entry shell 1 1',
      'folded-entry shell 1 1',
      'folded-entry - - 0',
    ]);
    expect(reclaimed(attributions)).toBe(total(before) - total(after));
  });

  test('an unedited history has no attributions', () => {
    expect(
      attributeCompression(historyDifference([shared, call], [shared, call]), NO_MODEL),
    ).toEqual([]);
  });
});
