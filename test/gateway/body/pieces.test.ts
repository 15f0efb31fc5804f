import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { madeFrom } from '../../../src/adapters/format/originals.js';
import { findList, readList } from '../../../src/gateway/body/list-in-body.js';
import type { ListInBody } from '../../../src/gateway/body/list-in-body.js';
import { assemble, lengthOf, piecesOf, sentIn } from '../../../src/gateway/body/pieces.js';
import type { SentList } from '../../../src/gateway/body/pieces.js';
import { messy, seeded } from '../../support/messy-json.js';
import { runs } from '../../support/scale.js';

interface Part {
  readonly id: string;
  readonly text: string;
  readonly count: number;
  readonly extra?: unknown;
}

interface Message {
  readonly role: string;
  readonly content: readonly Part[];
}

const text = fc.string({
  unit: fc.constantFrom('a', '"', '\\', ']', '}', ',', 'é', '😀', '\n'),
  maxLength: 8,
});
const part = fc.record({
  id: fc.uuid(),
  text,
  count: fc.nat(99),
  extra: fc.jsonValue({ maxDepth: 2, noUnicodeString: false }),
});
const message = fc.record({
  role: fc.constantFrom('user', 'assistant'),
  content: fc.array(part, { minLength: 1, maxLength: 4 }),
});
/** What becomes of a message: it stays, it goes, its first part goes, or a text in its last part is another one. */
const fate = fc.constantFrom('stays', 'stays', 'goes', 'loses', 'changes', 'written');

function edited(of: Message, fate: string): Message[] {
  switch (fate) {
    case 'goes':
      return [];
    case 'loses':
      return of.content.length > 1 ? [madeFrom({ ...of, content: of.content.slice(1) }, of)] : [of];
    case 'changes':
      return [
        madeFrom(
          {
            ...of,
            content: [...of.content.slice(0, -1), { ...of.content.at(-1)!, text: 'another' }],
          },
          of,
        ),
      ];
    case 'written':
      return [{ role: 'user', content: [] }, of];
    default:
      return [of];
  }
}

function listOf(body: string): ListInBody {
  const bytes = Buffer.from(body);
  return readList(bytes, findList(bytes, ['messages'])!, ['messages'], [])!;
}

describe('piecesOf', () => {
  it('makes a body of the edited messages in which nothing else is another byte', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(message, fate), { maxLength: 8 }),
        fc.jsonValue({ maxDepth: 2 }),
        fc.nat(),
        (drawn, besides, seed) => {
          const given = drawn.map(
            ([of, became], at) =>
              [
                {
                  ...of,
                  content: of.content.map((one, place) => ({ ...one, id: `${at}.${place}` })),
                },
                became,
              ] as const,
          );
          const random = seeded(seed);
          const body = ` {"before":${messy(besides, random)},"messages" : ${messy(
            given.map(([of]) => of),
            random,
          )}, "after":1.50}\n`;
          const list = listOf(body);
          const messages = list.elements.map(
            ({ start, end }) => JSON.parse(list.bytes.toString('utf8', start, end)) as Message,
          );
          const compacted = messages.flatMap((of, at) => edited(of, given[at]![1]));
          const pieces = piecesOf(list, messages, compacted, new WeakMap());
          if (pieces === undefined) {
            expect(compacted).toEqual(messages);
            return;
          }
          const made = assemble(list.bytes, pieces).toString();
          expect((JSON.parse(made) as { messages: unknown }).messages).toEqual(compacted);
          expect(
            made.startsWith(body.slice(0, list.bytes.toString('utf8', 0, list.start).length)),
          ).toBe(true);
          expect(made.endsWith(list.bytes.toString('utf8', list.end))).toBe(true);
          const now = listOf(made);
          for (const [at, of] of compacted.entries()) {
            const place = messages.indexOf(of);
            const { start, end } = now.elements[at]!;
            const written = now.bytes.toString('utf8', start, end);
            if (place !== -1) {
              const from = list.elements[place]!;
              expect(written).toBe(list.bytes.toString('utf8', from.start, from.end));
            } else if (of.content.length > 0) {
              // Of an edited message every number is as it was spelled.
              const origin = messages.find(
                ({ content }) => content.at(-1)!.id === of.content.at(-1)!.id,
              )!;
              const { start: first, end: last } = list.elements[messages.indexOf(origin)]!;
              const spelled = list.bytes.toString('utf8', first, last);
              for (const count of written.matchAll(/"count"\s*:\s*([\d.e]+)/g))
                expect(spelled).toContain(count[1]);
              expect(written).not.toMatch(/"count":\d+[,}]/);
            }
          }
        },
      ),
      { numRuns: runs(2_000) },
    );
  });

  it('writes what an edit has made of a message once', () => {
    const list = listOf(
      '{"messages":[{"n":2},{"role":"user","n":1.0,"content":[{"id":"a"},{"id":"b"}]}]}',
    );
    const [first, given] = list.elements.map(
      ({ start, end }) => JSON.parse(list.bytes.toString('utf8', start, end)) as Message,
    );
    const made = madeFrom({ ...given!, content: given!.content.slice(1) }, given!);
    const written = new WeakMap<object, Buffer>();
    const write = () => piecesOf(list, [first!, given!], [first!, made], written)!.pieces[1];
    const text = write();
    expect(Buffer.from(text as Uint8Array).toString()).toBe(
      ',{"role":"user","n":1.0,"content":[{"id":"b"}]}',
    );
    expect(write()).toBe(text);
  });

  it('makes the same body from how the conversation was sent before, however it has gone on', () => {
    const then = fc.tuple(message, fate, fate, fc.boolean());
    fc.assert(
      fc.property(fc.array(then, { maxLength: 8 }), fc.nat(8), fc.nat(), (drawn, length, seed) => {
        const random = seeded(seed);
        const texts = drawn.map(([of], at) => messy({ ...of, at }, random));
        const separator = ['', ' ', '\n'][seed % 3]!;
        const former = listOf(`{"messages":[${texts.slice(0, length).join(`${separator},`)}]}`);
        const list = listOf(`{"model":"x","messages":[${texts.join(`${separator},`)}],"more":1.0}`);
        const messages = list.elements.map(
          ({ start, end }) => JSON.parse(list.bytes.toString('utf8', start, end)) as Message,
        );
        const first = messages.slice(0, length).map((of, at) => edited(of, drawn[at]![1]));
        const now = messages.flatMap(
          (of, at) => (drawn[at]![3] ? first[at] : undefined) ?? edited(of, drawn[at]![2]),
        );
        const write = (goesOn: boolean): string | undefined => {
          const written = new WeakMap<object, Buffer>();
          const kept = first.flat();
          const before = piecesOf(former, messages.slice(0, length), kept, written);
          let sent: SentList | undefined;
          if (before !== undefined && goesOn)
            sent = sentIn(assemble(former.bytes, before), former, kept, before);
          const pieces = piecesOf(list, messages, now, written, sent);
          if (pieces === undefined) return undefined;
          const body = assemble(list.bytes, pieces);
          expect(body).toHaveLength(lengthOf(pieces));
          const ends = sentIn(body, list, now, pieces).ends.map((end) => list.start + 1 + end);
          expect(ends).toEqual(listOf(body.toString()).elements.map(({ end }) => end));
          return body.toString();
        };
        expect(write(true)).toBe(write(false));
      }),
      { numRuns: runs(2_000) },
    );
  });
});
