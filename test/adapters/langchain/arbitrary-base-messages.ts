// Random conversations in LangChain's format: content as a string or as blocks; calls listed once, or among the blocks
// as well, or in the provider's form; answered in order or not.

import {
  AIMessage,
  AIMessageChunk,
  HumanMessage,
  SystemMessage,
  ToolMessage,
} from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import fc from 'fast-check';

const sentence = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8}){0,6}$/);

/** A message of the model. Providers put more into its fields than their types declare. */
export function aiMessageOf(fields: object): AIMessage {
  return new AIMessage(fields);
}

/** Where a call is repeated besides `tool_calls`. */
const form = fc.constantFrom(
  ...(['listed', 'anthropic', 'v1', 'raw', 'responses', 'gemini', 'stream'] as const),
);

type Form = typeof form extends fc.Arbitrary<infer T> ? T : never;

const call = fc.record({
  name: fc.constantFrom('read_file', 'read_file', 'write_file'),
  file: fc.constantFrom('a.ts', 'b.ts'),
  output: sentence,
  hasFailed: fc.boolean(),
  isInBlocks: fc.boolean(),
});

type Call = typeof call extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  form,
  said: fc.oneof(fc.constant(''), sentence),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  isAnsweredBackwards: fc.boolean(),
});

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const turn = fc.record({
  asked: sentence,
  hasImage: fc.boolean(),
  steps: fc.array(step, { maxLength: 4 }),
  answered: sentence,
});

function callsOf(
  calls: readonly Call[],
  number: number,
): { id: string; name: string; args: object }[] {
  return calls.map(({ name, file }, at) => {
    const id = `call_${number}_${at}`;
    return { id, name, args: { file_path: file, content: writtenBy(id) } };
  });
}

/** A unique text in the arguments of a call. */
export function writtenBy(id: string): string {
  return `what ${id} writes`;
}

function contentOf(kind: Form, said: string, calls: ReturnType<typeof callsOf>): object[] | string {
  const text = said === '' ? [] : [{ type: 'text', text: said }];
  const thought = { type: 'thinking', thinking: 'hm', signature: 'sig+==' };
  switch (kind) {
    case 'anthropic':
      return [
        thought,
        ...text,
        ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
      ];
    case 'v1':
      return [...text, ...calls.map((one) => ({ type: 'tool_call', ...one }))];
    case 'gemini':
      return [
        ...text,
        ...calls.map(({ name, args }) => ({ type: 'functionCall', functionCall: { name, args } })),
      ];
    default:
      return said;
  }
}

function aiMessage({ form: kind, said, calls: made }: Step, number: number): AIMessage {
  const calls = callsOf(made, number);
  const texts = calls.map(({ args, ...call }, index) => ({
    ...call,
    args: JSON.stringify(args),
    index,
  }));
  const output = texts.flatMap(({ id, name, args }) => [
    { type: 'reasoning', id: `rs_${id}` },
    { type: 'function_call', id: `fc_${id}`, call_id: id, name, arguments: args },
  ]);
  const raw = texts.map(({ id, name, args, index }) => ({
    ...{ index, id, type: 'function' as const, function: { name, arguments: args } },
  }));
  const fields = {
    id: `ai-${number}`,
    content: contentOf(kind, said, calls),
    usage_metadata: { input_tokens: number, output_tokens: 1, total_tokens: number + 1 },
    ...(['raw', 'stream'].includes(kind) && { additional_kwargs: { tool_calls: raw } }),
    ...(kind === 'responses' && { response_metadata: { output, model_name: 'gpt' } }),
  };
  if (kind !== 'stream') return aiMessageOf({ ...fields, tool_calls: calls });
  return new AIMessageChunk({ ...fields, tool_call_chunks: texts } as object);
}

function answersOf({ calls, isAnsweredBackwards }: Step, number: number): ToolMessage[] {
  const answers = calls.map(
    ({ name, output, hasFailed, isInBlocks }, at) =>
      new ToolMessage({
        id: `tool-${number}-${at}`,
        tool_call_id: `call_${number}_${at}`,
        name,
        content: isInBlocks ? [{ type: 'text', text: output }] : output,
        artifact: { whole: output },
        ...(hasFailed && { status: 'error' as const }),
      }),
  );
  return isAnsweredBackwards ? answers.reverse() : answers;
}

/** Conversations that end with a question. */
export const arbitraryBaseMessages: fc.Arbitrary<BaseMessage[]> = fc
  .array(turn, { minLength: 1, maxLength: 4 })
  .map((turns) => {
    let number = 0;
    const messages: BaseMessage[] = [new SystemMessage('You work on files.')];
    for (const { asked, hasImage, steps, answered } of turns) {
      const image = { type: 'image', mimeType: 'image/png', data: 'iVBORw0KGgo=' };
      messages.push(
        new HumanMessage({
          content: hasImage ? [{ type: 'text', text: asked }, image] : asked,
        }),
      );
      for (const one of steps) {
        number += 1;
        messages.push(aiMessage(one, number), ...answersOf(one, number));
      }
      messages.push(new AIMessage(answered));
    }
    return [...messages, new HumanMessage('go on')];
  });
