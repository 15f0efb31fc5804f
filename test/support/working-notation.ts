// Short histories for working-set tests: one answer with its calls per word, each result in its own entry.

import type { IContent } from '../../src/shared/content.js';
import { aiContent, toolCall, toolContent, toolResponse } from '../../src/shared/content.js';

/** A result of that many tokens, in lines that can be cut between. */
export function textOf(tokens: number): string {
  return 'abc\n'.repeat(tokens);
}

const RESULT_TOKENS = 1_000;

/** Parameters by the tool at the start of a word; the rest is its file, lines or text. */
const CALLS: Readonly<Record<string, (rest: string) => readonly [string, unknown]>> = {
  read: (file) => ['read_file', { path: file }],
  part: (file) => ['read_line_range', { path: file }],
  many: (files) => ['read_many_files', { paths: files.split('|') }],
  lines: (rest) => {
    const [path, first = '1', last = '1'] = rest.split(/[:-]/);
    return ['view_range', { path, view_range: [Number(first), Number(last)] }];
  },
  write: (file) => ['write_file', { path: file }],
  edit: (file) => ['replace', { path: file }],
  search: (pattern) => ['search_text', { pattern }],
  run: (command) => ['run_shell_command', { command: command.replaceAll('_', ' ') }],
  ask: (question) => ['ask_user', { question }],
  learn: (name) => ['load_skill', { name }],
  other: (what) => ['get_weather', { what }],
};

/**
 * Parses a history of words with the tools of `WORKING_TOOLS`. `read(a.ts)` is an answer that reads a file, with a result of
 * 1,000 tokens; `read(a.ts)=70` has a result of 70, and `read(a.ts)!` failed. `a` is an answer without calls, as in
 * `notation.ts`. Calls joined by `+` are in one answer. `read(a.ts)?` is pending.
 */
export function workingHistory(notation: string): IContent[] {
  let made = 0;
  return notation.split(' ').flatMap((word): IContent[] => {
    if (word === 'a') return [aiContent([{ type: 'text', text: 'well' }])];
    const calls = word.split('+').map((text) => {
      const [, kind = '', rest = '', size, mark] =
        /^(\w+)\((.*?)\)(?:=(\d+))?([!?])?$/.exec(text) ?? [];
      const use = CALLS[kind]?.(rest);
      if (use === undefined) throw new Error(`There is no call '${text}'.`);
      made += 1;
      const [name, parameters] = use;
      const id = `c${made}`;
      const tokens = size === undefined ? RESULT_TOKENS : Number(size);
      const response = toolResponse(id, name, textOf(tokens));
      return {
        call: toolCall(id, name, parameters),
        response: mark === '!' ? { ...response, error: 'it failed' } : response,
        isOpen: mark === '?',
      };
    });
    const responses = calls.filter(({ isOpen }) => !isOpen).map(({ response }) => response);
    return [
      aiContent(calls.map(({ call }) => call)),
      ...(responses.length === 0 ? [] : [toolContent(responses)]),
    ];
  });
}
