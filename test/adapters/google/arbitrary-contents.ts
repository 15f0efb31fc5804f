// Random conversations in Gemini's format: turns of thoughts, texts and parallel calls, with ids on calls, on both
// sides or nowhere, signed like Gemini 3 does, and answered in one content or several.

import type { Content, Part } from '@google/genai';
import fc from 'fast-check';

import { deepFreeze } from '../../support/deep-freeze.js';

const sentence = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8}){0,6}$/);

interface Call {
  readonly name: string;
  readonly file: string;
  readonly response: Record<string, unknown>;
}

const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom('read_file', 'read_file', 'write_file'),
  file: fc.constantFrom('a.ts', 'b.ts'),
  response: fc.oneof(
    sentence.map((output) => ({ output })),
    sentence.map((error) => ({ error })),
    sentence.map((stdout) => ({ stdout, exitCode: 0 })),
  ),
});

const aside: fc.Arbitrary<Part> = fc.oneof(
  sentence.map((text) => ({ text })),
  fc.constant({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }),
  fc.constant({ fileData: { mimeType: 'video/mp4', fileUri: 'gs://bucket/a.mp4' } }),
);

const extra: fc.Arbitrary<Part> = fc.constantFrom<Part>(
  { text: '', thoughtSignature: 'empty+sig==' },
  { executableCode: { code: 'print(1)' } },
  { codeExecutionResult: { output: '1' } },
);

const step = fc.record({
  thoughts: fc.array(sentence, { maxLength: 1 }),
  said: fc.array(sentence, { maxLength: 1 }),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  extras: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(extra, { maxLength: 2 })),
  isSplit: fc.boolean(),
  asides: fc.oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.array(aside, { maxLength: 2 })),
});

const turn = fc.record({
  asked: fc.tuple(sentence, fc.array(aside, { maxLength: 1 })),
  steps: fc.array(step, { maxLength: 6 }),
  answered: sentence,
});

type Turn = typeof turn extends fc.Arbitrary<infer T> ? T : never;
type Step = Turn['steps'][number];

/** A part with a response. The SDK declares a class for it, but uses plain objects. */
export function responsePart(fields: Readonly<Record<string, unknown>>, rest: Part = {}): Part {
  return { functionResponse: fields, ...rest };
}

/** Which parts have ids. */
export type Ids = 'both' | 'calls' | 'none';

function contentsOfStep(
  { thoughts, said, calls, extras, isSplit, asides }: Step,
  ids: Ids,
  number: number,
): Content[] {
  const made = calls.map(({ name, file }, at): Part => ({
    functionCall: {
      ...(ids !== 'none' && { id: `call_${number}_${at}` }),
      name,
      args: { file_path: file },
    },
    ...(at === 0 && { thoughtSignature: `sig+${number}==` }),
  }));
  const responses = calls.map(({ name, response }, at) =>
    responsePart({ ...(ids === 'both' && { id: `call_${number}_${at}` }), name, response }),
  );
  const model: Content = {
    role: 'model',
    parts: [
      ...thoughts.map((text) => ({ text, thought: true })),
      ...said.map((text) => ({ text })),
      ...made,
      ...extras,
    ],
  };
  return isSplit
    ? [model, ...responses.map((part) => ({ role: 'user', parts: [part] }))]
    : [model, { role: 'user', parts: [...responses, ...asides] }];
}

/** Conversations that end with a question or within a turn, deeply frozen. */
export const arbitraryContents: fc.Arbitrary<readonly Content[]> = fc
  .record({
    turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
    ids: fc.constantFrom<Ids>('both', 'calls', 'none'),
    endsAmidTurn: fc.boolean(),
    hasRoles: fc.boolean(),
  })
  .map(({ turns, ids, endsAmidTurn, hasRoles }) => {
    let steps = 0;
    const contents = turns.flatMap(({ asked: [text, asides], steps: made, answered }, at) => {
      const question: Content = {
        ...(hasRoles && { role: 'user' }),
        parts: [{ text }, ...asides],
      };
      const work = made.flatMap((one) => contentsOfStep(one, ids, (steps += 1)));
      if (endsAmidTurn && at === turns.length - 1) return [question, ...work];
      return [question, ...work, { role: 'model', parts: [{ text: answered }] }];
    });
    if (!endsAmidTurn) contents.push({ role: 'user', parts: [{ text: 'go on' }] });
    return deepFreeze(contents);
  });
