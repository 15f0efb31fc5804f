// The names that count as needs, and their weights.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { identifierNeeds, namesIn } from '../../../../bench/fidelity/needs/identifiers.js';
import { runs } from '../../../support/scale.js';
import { read, says, shell, transcriptOf, user } from '../support/made-session.js';

describe('namesIn', () => {
  it.each([
    ['see src/main/turn-loop.ts, line 12', ['turn-loop.ts']],
    ['call readTranscript(file) or HTTP_ERROR', ['readTranscript', 'HTTP_ERROR']],
    ['at commit 3f2a91c and fix10', ['3f2a91c', 'fix10']],
    ['a plain sentence of some longer words', []],
    ['12345 67890', []],
    ['a_b', []],
    ['twoWords twoWords', ['twoWords']],
  ])('finds in %j the names %j', (text, names) => {
    expect([...namesIn(text)]).toEqual(names);
  });
});

describe('identifierNeeds', () => {
  const listing = shell('list', 'ls', 'parseRange.ts\nother_thing.ts');

  it('has one for the first use of a name from a result, by kind of call', () => {
    const needs = identifierNeeds(
      transcriptOf(
        user('Look.'),
        listing,
        read('first', 'parseRange.ts', 'text'),
        read('again', 'parseRange.ts', 'text'),
        shell('run', 'npm test other_thing.ts', 'ok'),
      ),
    );
    expect(needs.map(({ kind, callId, lines }) => [kind, callId, lines[0]])).toEqual([
      ['id-read', 'first', 'parseRange.ts'],
      ['id-command', 'run', 'other_thing.ts'],
    ]);
  });

  it.each([
    ['the user', user('Look at parseRange.ts.')],
    ['the agent', says('There may be a parseRange.ts.')],
  ])('has none for a name that %s contained before', (_, naming) => {
    const needs = identifierNeeds(
      transcriptOf(naming, listing, read('first', 'parseRange.ts', 'text')),
    );
    expect(needs).toEqual([]);
  });

  it('weighs a name by how few results contain it', () => {
    const others = Array.from({ length: 7 }, (_, at) => shell(`${at}`, `step ${at}`, 'nothing'));
    const [need] = identifierNeeds(
      transcriptOf(user('Look.'), listing, ...others, read('first', 'parseRange.ts', 'text')),
    );
    expect(need?.weight).toBeCloseTo(Math.log(1 + 8));
  });

  it('ignores a name that many results contain', () => {
    const many = Array.from({ length: 5 }, (_, at) =>
      shell(`${at}`, `step ${at}`, 'parseRange.ts'),
    );
    const first = read('first', 'parseRange.ts', 'text');
    expect(identifierNeeds(transcriptOf(user('Look.'), ...many, first))).toEqual([]);
    expect(identifierNeeds(transcriptOf(user('Look.'), ...many.slice(2), first))).toHaveLength(1);
  });

  it('finds the needs that a search through all earlier blocks finds', () => {
    const name = fc.constantFrom('oneName', 'two_name', 'three.ts', 'word');
    const text = fc.array(name, { maxLength: 3 }).map((names) => names.join(' '));
    const step = fc.oneof(
      text.map((said) => [said === '' ? says('nothing') : says(said)]),
      fc
        .tuple(fc.uuid(), text, text)
        .map(([id, asked, answered]) => shell(id, `run ${asked}`, answered)),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 8 }), (steps) => {
        const transcript = transcriptOf(user('Go.'), ...steps);
        const found = identifierNeeds(transcript).map(({ entry, lines }) => `${entry} ${lines[0]}`);
        const expected = transcript.entries.flatMap(({ blocks }, entry) =>
          blocks.flatMap((block) => {
            if (block.type !== 'tool_call') return [];
            const before = transcript.entries.slice(0, entry).flatMap((each) => each.blocks);
            return [
              ...new Set(JSON.stringify(block.parameters).match(/oneName|two_name|three\.ts/g)),
            ]
              .filter((each) => {
                const holders = before.filter((other) => JSON.stringify(other).includes(each));
                const results = before.filter(({ type }) => type === 'tool_response').length;
                return (
                  holders.length > 0 &&
                  holders.length <= Math.max(3, 0.1 * results) &&
                  holders.every(({ type }) => type === 'tool_response')
                );
              })
              .map((each) => `${entry} ${each}`);
          }),
        );
        expect(found.sort()).toEqual(expected.sort());
      }),
      { numRuns: runs(200) },
    );
  });
});
