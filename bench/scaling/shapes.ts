// Histories of shapes that make repeated searches quadratic: repeated or missing ids, nested and interleaved calls, unmatched
// markers, one giant entry, many tiny ones.

import type { ContentBlock, IContent, ToolCallBlock, ToolResponseBlock } from '../../src/index.js';
import { aiContent, humanText, toolCall, toolContent, toolResponse } from '../../src/index.js';

/** Makes a history of about that many blocks, which may be invalid. */
export type Shape = (size: number) => IContent[];

const FILES = 40;
const CLOSING = '--- End of content ---';
const GROUP_OPENING = '--- Content from referenced files ---';
/** Long enough to be worth a placeholder. */
const RESULT = 'const entry = history.at(index); // what a tool returned\n'.repeat(8);

function call(id: string, at: number): ToolCallBlock {
  const path = `src/file-${at % FILES}.ts`;
  if (at % 5 === 4) return toolCall(id, 'write_file', { file_path: path, content: 'text' });
  if (at % 5 === 3) return toolCall(id, 'run_shell_command', { command: `npm test ${at}` });
  return toolCall(id, 'read_file', { file_path: path });
}

function response(id: string, at: number): ToolResponseBlock {
  const name = at % 5 === 4 ? 'write_file' : at % 5 === 3 ? 'run_shell_command' : 'read_file';
  return toolResponse(id, name, `${at} ${RESULT}`);
}

function times<Value>(count: number, make: (at: number) => Value): Value[] {
  return Array.from({ length: count }, (_, at) => make(at));
}

/** Calls with immediate responses, and a question now and then. */
function answeredAtOnce(size: number, idOf: (at: number) => string): IContent[] {
  return times(Math.ceil(size / 2), (at) => [
    ...(at % 10 === 0 ? [humanText(`Go on with step ${at}.`)] : []),
    aiContent([call(idOf(at), at)]),
    toolContent([response(idOf(at), at)]),
  ]).flat();
}

/** All calls first, then their responses in some order. */
function answeredLater(
  size: number,
  idOf: (at: number) => string,
  order: (at: number, count: number) => number,
): IContent[] {
  const count = Math.ceil(size / 2);
  return [
    humanText('Begin.'),
    ...times(count, (at) => aiContent([call(idOf(at), at)])),
    ...times(count, (at) => {
      const answered = order(at, count);
      return toolContent([response(idOf(answered), answered)]);
    }),
  ];
}

const own = (at: number): string => `call_${at}`;
const inclusion = (at: number): string =>
  `--- src/file-${at % FILES}.ts ---\ntext ${at}\n${CLOSING}\n`;
const text = (said: string): ContentBlock => ({ type: 'text', text: said });
const heading = (at: number): ContentBlock => text(`Content from @src/file-${at % FILES}.ts:`);
const human = (blocks: readonly ContentBlock[]): IContent => ({ speaker: 'human', blocks });

/** The shapes by name. */
export const SHAPES = {
  'a working session': (size) => answeredAtOnce(size, own),
  'one id for all': (size) => answeredAtOnce(size, () => 'call'),
  'two ids in turn': (size) => answeredAtOnce(size, (at) => `call_${at % 2}`),
  'no ids': (size) => answeredAtOnce(size, () => ''),
  nested: (size) => answeredLater(size, own, (at, count) => count - 1 - at),
  interleaved: (size) => answeredLater(size, own, (at) => at),
  'one id, nested': (size) =>
    answeredLater(
      size,
      () => 'call',
      (at) => at,
    ),
  'no ids, interleaved': (size) =>
    answeredLater(
      size,
      () => '',
      (at) => at,
    ),
  'parallel calls': (size) => {
    const count = Math.ceil(size / 2);
    return [
      humanText('Begin.'),
      aiContent(times(count, (at) => call(own(at), at))),
      toolContent(times(count, (at) => response(own(at), at))),
    ];
  },
  'parallel calls without ids': (size) => {
    const count = Math.ceil(size / 2);
    return [
      humanText('Begin.'),
      aiContent(times(count, (at) => call('', at))),
      ...times(count, (at) => toolContent([response('', at)])),
    ];
  },
  'openings and headings': (size) => [
    human([
      ...times(size >> 1, () => text(GROUP_OPENING)),
      ...times(size >> 1, (at) => heading(at)),
    ]),
  ],
  'opening markers': (size) => [
    humanText(`${times(size, (at) => `--- src/file-${at}.ts ---\n`).join('')}${CLOSING}\n`),
  ],
  'never answered': (size) => times(size, (at) => aiContent([call(own(at), at)])),
  'answers to nothing': (size) => times(size, (at) => toolContent([response(own(at), at)])),
  'one call that goes on answering': (size) => [
    aiContent([call('call', 0)]),
    ...times(size, (at) => toolContent([{ ...response('call', at), isComplete: false }])),
  ],
  'a file included again and again': (size) =>
    times(size, (at) => humanText(`Look at @src/file-${at % FILES}.ts\n${inclusion(at)}`)),
  'inclusions in one text': (size) => [humanText(times(size, inclusion).join(''))],
  'closing markers': (size) => [humanText(`${CLOSING}\n`.repeat(size))],
  'groups that open': (size) => [
    human(times(size, (at) => (at % 2 === 0 ? text(GROUP_OPENING) : heading(at)))),
  ],
  'a group of many files': (size) => [
    human([
      text(GROUP_OPENING),
      ...times(size >> 1, (at) => [heading(at), text(`text ${at}`)]).flat(),
      text(CLOSING),
    ]),
  ],
  'one giant result': (size) => [
    humanText('Begin.'),
    aiContent([call('call', 0)]),
    toolContent([toolResponse('call', 'read_file', RESULT.repeat(size >> 3))]),
  ],
  'one giant text': (size) => [
    humanText(`word `.repeat(size * 10)),
    aiContent('x'.repeat(size * 20)),
  ],
  'giant parameters': (size) => [
    aiContent([toolCall('call', 'run', { values: times(size, (at) => ({ at, text: 'value' })) })]),
    toolContent([
      toolResponse(
        'call',
        'run',
        times(size, (at) => ({ at })),
      ),
    ]),
  ],
  'many tiny entries': (size) =>
    times(size, (at) => (at % 2 === 0 ? humanText('a') : aiContent('b'))),
  'texts of the model alone': (size) => times(size, () => aiContent('the same text')),
  'the same said again': (size) =>
    times(size, (at) => (at % 3 === 0 ? humanText(RESULT) : aiContent(RESULT))),
  'one entry of many blocks': (size) => [human(times(size, () => text('the same text')))],
  'reasoning before each call': (size) =>
    times(size >> 1, (at) => [
      aiContent([
        { type: 'thinking', thought: `thought ${at}`, signature: 's' },
        call(own(at), at),
      ]),
      toolContent([response(own(at), at)]),
    ]).flat(),
  'one file read again and again': (size) =>
    times(size >> 1, (at) => [
      aiContent([
        toolCall(own(at), 'read_file', { file_path: 'a.ts', offset: at % 100, limit: 50 }),
      ]),
      toolContent([response(own(at), 0)]),
    ]).flat(),
} satisfies Record<string, Shape>;

export type ShapeName = keyof typeof SHAPES;
