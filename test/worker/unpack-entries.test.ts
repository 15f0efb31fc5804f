// Entries packed as bytes, compared with cloned ones: their counts, and what an index finds.

import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { packEntries, releasePacked } from '../../src/main/offload/pack-entries.js';
import { postedPart } from '../../src/main/offload/posted-entry.js';
import type { ContentBlock, IContent } from '../../src/shared/content.js';
import { carriesContent, humanText } from '../../src/shared/content.js';
import { NONE } from '../../src/shared/density/index/history-columns.js';
import type { PackedEntries } from '../../src/shared/packed-entries.js';
import { measureEntry } from '../../src/shared/tokens/count-tokens.js';
import type { MeasuredEntry } from '../../src/worker/resident-facts.js';
import { countPacked, textOfBytes, unpackEntries } from '../../src/worker/unpack-entries.js';
import { runs } from '../support/scale.js';

/** Weighs a text by its content and by the positions in it. */
function weigh(text: string): number {
  let weight = 1;
  for (const character of text) weight = (weight * 31 + (character.codePointAt(0) ?? 0)) % 99_991;
  return weight;
}

const countBytes = (bytes: Uint8Array, start: number, end: number): number =>
  weigh(textOfBytes(bytes, start, end));

const text = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    ' \n\t ',
    '\uFEFF',
    '\uFEFFab',
    'caf\u00E9 \u00FF',
    '{"a":1}',
    'a'.repeat(500),
    ' '.repeat(99),
  ),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.string({ maxLength: 12 }),
);
const optional = fc.option(text, { nil: undefined });
const payload = fc.oneof(text, fc.jsonValue(), fc.constant(undefined));
/** Higher claims are refused at ingestion. */
const claim = fc.nat(8_388_608);
const count = fc.option(claim, { nil: undefined });

/** Blocks of every kind, with fields that only agents know. */
const block: fc.Arbitrary<ContentBlock> = fc
  .oneof(
    fc.record({ type: fc.constant('text'), text }),
    fc.record({ type: fc.constant('code'), code: text, language: optional }),
    fc.record({ type: fc.constant('thinking'), thought: text, encryptedContent: optional }),
    fc.record({
      ...{ type: fc.constant('tool_call'), id: text, name: text, parameters: payload },
      ...{ parallelGroup: optional, description: optional },
      hasFixedParameters: fc.constantFrom(true, false, undefined),
    }),
    fc.record({
      ...{ type: fc.constant('tool_response'), callId: text, toolName: text, result: payload },
      ...{ error: optional, mediaTokens: count },
      isComplete: fc.constantFrom(true, false, undefined),
    }),
    fc.record({
      ...{ type: fc.constant('media'), data: text, caption: optional },
      // Tokens of media depend on their type.
      mimeType: fc.oneof(fc.constantFrom('image/png', 'application/pdf'), text),
      ...{ encoding: fc.constantFrom('url', 'base64'), filename: optional },
    }),
    fc.record({ type: fc.constant('opaque'), kind: text, tokens: claim, callId: optional }),
  )
  .map((made) => ({ ...withoutUndefined(made), ours: 1 }) as unknown as ContentBlock);

const entry: fc.Arbitrary<IContent> = fc.record({
  speaker: fc.constantFrom('human', 'ai', 'tool'),
  blocks: fc.array(block, { maxLength: 4 }),
  metadata: fc.record({ isSummary: fc.boolean(), synthetic: fc.boolean(), id: fc.string() }),
});

function withoutUndefined(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}

function packed(contents: readonly IContent[]): PackedEntries {
  const made = packEntries(contents);
  expect(made).toBeDefined();
  return made!;
}

/** The packed entries, without counts. */
function uncounted(from: PackedEntries): readonly MeasuredEntry[] {
  const knownTokens = new Int32Array(from.entries);
  return [...unpackEntries({ packed: from, knownTokens }, undefined)];
}

/** An entry without the words that nobody reads. */
function looked({ speaker, blocks, ...others }: IContent): unknown {
  const seen = blocks.map((made) => {
    const words = { text: 'text', code: 'code', thinking: 'thought' }[made.type as string];
    if (speaker === 'human' || words === undefined) return made;
    return { ...made, [words]: carriesContent(made) };
  });
  return { speaker, blocks: seen, ...others };
}

describe('unpackEntries', () => {
  it('counts the same as for a clone, and gives the index the same input', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 6 }), (contents) => {
        const bytes = packed(contents);
        const unknown = new Int32Array(contents.length).fill(NONE);
        const unpacked = [...unpackEntries({ packed: bytes, knownTokens: unknown }, countBytes)];
        releasePacked(bytes);
        const parts = contents.map(postedPart).map(throughJson);
        expect(unpacked.map(({ content }) => looked(content))).toEqual(parts.map(looked));
        unpacked.forEach(({ measure, tokens }, at) => {
          expect(measure).toEqual(measureEntry(contents[at]!, weigh));
          expect(tokens).toBe(measure?.tokens);
        });
      }),
      { numRuns: runs(5_000) },
    );
  });

  it('counts nothing of an entry that is counted already, or must not be counted', () => {
    fc.assert(
      fc.property(fc.array(entry, { maxLength: 4 }), (contents) => {
        const parts = contents.map(postedPart);
        const known = Int32Array.from(contents, (_, at) => at);
        const unpacked = [
          ...unpackEntries({ packed: packed(parts), knownTokens: known }, countBytes),
        ];
        expect(unpacked.map(({ tokens }) => tokens)).toEqual([...known]);
        expect(unpacked.every(({ measure }) => measure === undefined)).toBe(true);
        expect(unpacked.map(({ content }) => looked(content))).toEqual(
          parts.map(throughJson).map(looked),
        );
        known.fill(NONE);
        const uncounted = [
          ...unpackEntries({ packed: packed(parts), knownTokens: known }, undefined),
        ];
        expect(uncounted.every(({ tokens }) => tokens === NONE)).toBe(true);
      }),
      { numRuns: runs(1_000) },
    );
  });
});

describe('countPacked', () => {
  it('counts the same as the receiver would, for entries without tokens', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(entry, fc.boolean()), { maxLength: 6 }), (given) => {
        const isKnown = given.map(([, known]) => known);
        const made = packed(given.map(([content]) => content));
        const knownTokens = Int32Array.from(isKnown, (known, at) => (known ? at : NONE));
        const stage = { packed: made, knownTokens };
        const counts = countPacked(made, knownTokens, countBytes);
        const there = [...unpackEntries(stage, countBytes)];
        expect([...counts.tokens]).toEqual(there.map(({ tokens }) => tokens));
        // The receiver counts nothing.
        expect([...unpackEntries({ ...stage, counts }, () => NaN)]).toEqual(there);
      }),
      { numRuns: runs(2_000) },
    );
  });
});

describe('packEntries', () => {
  it('packs nothing that bytes would change', () => {
    const call = { type: 'tool_response', callId: '1', toolName: 'x', result: '' } as const;
    for (const entries of [
      [humanText('half \uD83D')],
      [humanText('whole'), { speaker: 'tool', blocks: [{ ...call, result: '\uDE00' }] } as const],
      [{ speaker: 'tool', blocks: [{ ...call, mediaTokens: 2 ** 31 }] } as const],
    ])
      expect(packEntries(entries)).toBeUndefined();
    expect(packed([humanText('whole \u{1F600}')]).entries).toBe(1);
  });

  it('packs nothing that was changed since it was added, and everything else', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    const call = { type: 'tool_call', id: '1', name: 'x', parameters: circle } as const;
    expect(packEntries([humanText('a'), { speaker: 'ai', blocks: [call] }])).toBeUndefined();
    expect(packEntries([humanText(1 as unknown as string)])).toBeUndefined();
    expect(uncounted(packed([humanText('b')]))).toMatchObject([{ content: humanText('b') }]);
  });

  it('packs the same without shared memory, as a copy', () => {
    vi.stubGlobal('SharedArrayBuffer', undefined);
    try {
      const made = packEntries([humanText('first'), humanText('second')]);
      expect(made?.bytes.buffer).toBeInstanceOf(ArrayBuffer);
      expect(made?.bytes.buffer.byteLength).toBe('firstsecond'.length);
      releasePacked(made!);
      const next = packEntries([humanText('third'), humanText('other')]);
      expect(next?.bytes.buffer).not.toBe(made?.bytes.buffer);
      const unpacked = uncounted(made!);
      expect(unpacked.map(({ content }) => content)).toEqual([
        humanText('first'),
        humanText('second'),
      ]);
    } finally {
      vi.unstubAllGlobals();
    }
  });

  it('packs what is larger than a buffer, between other entries', () => {
    const texts = ['x'.repeat(300), '\u20AC'.repeat(2 ** 20), 'y'.repeat(2 ** 21), 'z'];
    // As many code units as the buffer has bytes, and more bytes than that.
    texts.push('\u20AC'.repeat(2 ** 19));
    const all = [...texts, ...texts].map((said) => packed([humanText('a'), humanText(said)]));
    all.forEach((made, at) => {
      const [first, last] = uncounted(made);
      expect(first?.content).toEqual(humanText('a'));
      expect(last?.content).toEqual(humanText(texts[at % texts.length]!));
    });
  });

  it('writes into returned buffers, and into none that is being read', () => {
    const held = packed([humanText('held')]);
    const given = packed([humanText('given')]);
    releasePacked(given);
    const next = packed([humanText('after')]);
    expect(next.bytes.buffer).toBe(given.bytes.buffer);
    expect(uncounted(held)[0]?.content).toEqual(humanText('held'));
  });
});

/** Parameters and results as parsed from their JSON; other values stay. */
function throughJson(content: IContent): IContent {
  const blocks = content.blocks.map((made) => {
    if (made.type === 'tool_call') return { ...made, parameters: jsonOf(made.parameters) };
    return made.type === 'tool_response' ? { ...made, result: jsonOf(made.result) } : made;
  });
  return { ...content, blocks };
}

function jsonOf(payload: unknown): unknown {
  if (payload === undefined || typeof payload === 'bigint') return payload;
  return JSON.parse(JSON.stringify(payload)) as unknown;
}
