// Random conversations that Anthropic's Messages API would accept: turns of reasoning, texts, parallel calls,
// answers in every form, server tools, cache breakpoints.

import * as fc from 'fast-check';
import type { MessageParam, ToolResultBlockParam } from '@anthropic-ai/sdk/resources/messages';

import { deepFreeze } from '../../support/deep-freeze.js';

type Parts = Exclude<MessageParam['content'], string | undefined>;
type Part = Parts[number];
type ResultParts = Exclude<ToolResultBlockParam['content'], string | undefined>;

const sentence = fc.stringMatching(/^[a-z]{1,8}( [a-z]{1,8}){0,6}$/);
const path = fc.constantFrom('a.ts', 'b.ts', 'c.ts');
const breakpoint = fc.constantFrom({}, {}, {}, { cache_control: { type: 'ephemeral' as const } });

const text: fc.Arbitrary<Part> = fc
  .tuple(sentence, breakpoint)
  .map(([words, mark]) => ({ type: 'text', text: words, ...mark }));

const image: fc.Arbitrary<Part> = breakpoint.map((mark) => ({
  type: 'image',
  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
  ...mark,
}));

const document: fc.Arbitrary<Part> = sentence.map((data) => ({
  type: 'document',
  source: { type: 'text', media_type: 'text/plain', data },
  title: 'notes.txt',
}));

const reasoning: fc.Arbitrary<Part> = fc.oneof(
  sentence.map((thinking): Part => ({
    type: 'thinking',
    thinking,
    signature: `sig+${thinking}==`,
  })),
  sentence.map((data): Part => ({ type: 'redacted_thinking', data })),
);

const searched: fc.Arbitrary<readonly Part[]> = fc.nat(999).map((id) => [
  { type: 'server_tool_use', id: `srvtoolu_${id}`, name: 'web_search', input: { query: 'x' } },
  {
    type: 'web_search_tool_result',
    tool_use_id: `srvtoolu_${id}`,
    content: [
      { type: 'web_search_result', title: 'X', url: 'https://example.org', encrypted_content: 'e' },
    ],
  },
]);

interface Call {
  readonly name: string;
  readonly file: string;
  readonly output: string;
  readonly form: 'text' | 'parts' | 'image' | 'none';
  readonly isError: boolean;
  readonly isMarked: boolean;
}

const call: fc.Arbitrary<Call> = fc.record({
  name: fc.constantFrom('read_file', 'write_file', 'search'),
  file: path,
  output: sentence,
  form: fc.constantFrom('text', 'parts', 'image', 'none'),
  isError: fc.boolean(),
  isMarked: fc.boolean(),
});

function use(id: string, { name, file, isMarked }: Call): Part {
  return {
    type: 'tool_use',
    id,
    name,
    input: { file_path: file },
    ...(isMarked && { caller: { type: 'direct' } }),
  };
}

function result(id: string, { form, output, isError, isMarked }: Call): Part {
  return {
    type: 'tool_result',
    tool_use_id: id,
    ...(form === 'text' && { content: output }),
    ...((form === 'parts' || form === 'image') && { content: resultParts(output, form) }),
    // The API requires content for errors.
    ...(isError && form !== 'none' && { is_error: true }),
    ...(isMarked && { cache_control: { type: 'ephemeral' } }),
  };
}

function resultParts(output: string, form: 'parts' | 'image'): ResultParts {
  const words = { type: 'text', text: output } as const;
  const picture = { type: 'image', source: { type: 'url', url: 'https://e.org/x' } } as const;
  return form === 'image' ? [words, picture] : [words];
}

const step = fc.record({
  reasoning: fc.array(reasoning, { maxLength: 2 }),
  said: fc.array(text, { maxLength: 1 }),
  searched: fc.oneof({ weight: 5, arbitrary: fc.constant([]) }, searched),
  calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  aside: fc.array(fc.oneof(text, image), { maxLength: 1 }),
});

const turn = fc.record({
  asked: fc.oneof(
    sentence,
    fc.array(fc.oneof(text, image, document), { minLength: 1, maxLength: 3 }),
  ),
  steps: fc.array(step, { maxLength: 5 }),
  thought: fc.array(reasoning, { maxLength: 1 }),
  answered: fc.oneof(sentence, text),
});

/** Conversations of some turns that end with a user's question, deeply frozen. */
export const arbitraryMessages: fc.Arbitrary<readonly MessageParam[]> = fc
  .tuple(fc.array(turn, { maxLength: 5 }), sentence)
  .map(([turns, last]) => {
    const messages: MessageParam[] = [];
    let calls = 0;
    for (const { asked, steps, thought, answered } of turns) {
      messages.push({ role: 'user', content: asked });
      for (const { reasoning: thoughts, said, searched: found, calls: made, aside } of steps) {
        const ids = made.map(() => `toolu_${(calls += 1)}`);
        const uses = made.map((one, at) => use(ids[at]!, one));
        const results = made.map((one, at) => result(ids[at]!, one));
        messages.push(
          { role: 'assistant', content: [...thoughts, ...said, ...found, ...uses] },
          { role: 'user', content: [...results, ...aside] },
        );
      }
      messages.push({
        role: 'assistant',
        content: typeof answered === 'string' ? answered : [...thought, answered],
      });
    }
    messages.push({ role: 'user', content: last });
    return deepFreeze(messages);
  });
