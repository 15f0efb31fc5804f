// Sessions whose results repeat the same lines in parts and in other orders: an incrementally updated worker removes the
// same lines as a pass over the whole session, and as a session resumed from a state.

import { createCompactor } from 'ctxfold';
import type { ContentBlock, IContent, OffloadMode } from 'ctxfold';
import fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { length, runs } from '../support/scale.js';

const compactorOf = (offload: OffloadMode): ReturnType<typeof createCompactor> =>
  createCompactor({
    offload,
    contextLimit: 1e9,
    workspaceRoot: '/w',
    tokenizer: 'estimate',
    threads: 1,
  });
const compactors = [compactorOf('inline'), compactorOf('resident')] as const;
afterAll(() => Promise.all(compactors.map((compactor) => compactor.close())));

const PIECES = Array.from({ length: 12 }, (_, piece) =>
  Array.from(
    { length: 3 + (piece % 5) },
    // Some share a prefix, which may be as long as what references quote.
    (_line, line) =>
      `line ${line} of ${'such '.repeat(6 * (piece % 3))}piece ${piece}, which is said again`,
  ).join('\n'),
);

const WORDS = ', as built, as tested, as packed, as signed, as sent'.split(' as');

/** By index: a piece; higher indexes are unique text. */
const result = fc.array(fc.nat(17), { minLength: 4, maxLength: 9 });
const call = fc.record({
  tool: fc.nat(7),
  file: fc.nat(4),
  pieces: result,
  /** The number of the first line, if lines are numbered. */
  number: fc.option(fc.nat(90), { freq: 2 }),
});
const turns = fc.array(fc.array(call, { minLength: 1, maxLength: 3 }), {
  minLength: 10,
  maxLength: length(40),
});

type Turn = readonly {
  readonly tool: number;
  readonly file: number;
  readonly pieces: readonly number[];
  readonly number: number | null;
}[];

function contentsOf(turn: Turn, number: number): readonly IContent[] {
  const calls: ContentBlock[] = [];
  const answers: IContent[] = [];
  for (const [at, { tool, file, pieces, number: first }] of turn.entries()) {
    const id = `call-${number}-${at}`;
    const path = `/w/f${file}.ts`;
    const short = pieces
      .map((piece, place) => PIECES[piece] ?? `only in ${id}, ${place}: nobody says it again`)
      .join('\n')
      .split('\n');
    // The middle of build output is omitted as well.
    const lines =
      tool === 7 ? short.flatMap((line) => WORDS.map((word) => `${line}${word}`)) : short;
    const said = first === null ? lines : lines.map((line, step) => `${first + step}\t${line}`);
    const [name = '', parameters = {}] = (
      [
        ['read_file', { file_path: path }],
        ['write_file', { file_path: path, content: 'x' }],
        // The result shows what was written.
        ['replace', { file_path: path, old_string: 'x', new_string: lines.slice(2).join('\n') }],
      ] as const
    )[tool] ?? [
      'run_shell_command',
      { command: `${['cat', 'node', 'npm test --'][Math.max(0, tool - 5)] ?? ''} ${file}` },
    ];
    calls.push({ type: 'tool_call', id, name, parameters });
    answers.push({
      speaker: 'tool',
      blocks: [{ type: 'tool_response', callId: id, toolName: name, result: said.join('\n') }],
    });
  }
  return [{ speaker: 'ai', blocks: calls }, ...answers];
}

describe('results with repeated lines', () => {
  it.each(['every-turn', 'auto'] as const)('lose the same lines on a worker, %s', async (edits) => {
    const shown = {
      ' lines as in ': 0,
      ', there lines ': 0,
      'as its call has them': 0,
      'the middle of a long output, lines of earlier': 0,
    };
    await fc.assert(
      fc.asyncProperty(turns, async (played) => {
        const sessions = await Promise.all(
          compactors.map((compactor) => compactor.createSession({ edits })),
        );
        const [inline, resident] = sessions;
        for (const [number, turn] of played.entries()) {
          for (const session of sessions) {
            session.history.addAll(contentsOf(turn, number));
            await session.ensureCompressionBeforeSend(`turn ${number}`);
          }
          expect(resident?.history.getAll()).toEqual(inline?.history.getAll());
        }
        const text = JSON.stringify(inline?.history.getAll());
        for (const words of Object.keys(shown) as (keyof typeof shown)[]) {
          shown[words] += text.split(words).length - 1;
        }
        // What a session resumed from the state makes of the same entries.
        const history = played.flatMap(contentsOf);
        const state = inline?.snapshot();
        sessions.push(await compactors[0].createSession({ edits, history, state }));
        expect(sessions.at(-1)?.history.getAll()).toEqual(inline?.history.getAll());
        await Promise.all(sessions.map((session) => session.close()));
      }),
      { numRuns: runs(80, 8) },
    );
    for (const times of Object.values(shown)) expect(times).toBeGreaterThan(0);
    expect(compactors[1].stats().residentPasses).toBeGreaterThan(0);
  });
});
