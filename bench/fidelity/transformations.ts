// Changes to a recorded session that should not matter to a compactor, because other agents, hosts and servers make them: the
// relations of a metamorphic test. All are pure functions.

import { isRecord } from '../../src/shared/json.js';
import type { ContentBlock, IContent, ToolResponseBlock } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';

export interface Transformation {
  readonly name: string;
  readonly apply: (transcript: Transcript) => Transcript;
}

/** A line number as readers of files print it, in front of its line. */
const LINE_NUMBER = /^ *(\d+)[→\t]/gm;
const ABSOLUTE_PATH = /\/(?:[\w.-]+\/)+[\w.-]+/g;
const ESCAPE = '\u001b';

export const TRANSFORMATIONS: readonly Transformation[] = [
  { name: 'untouched', apply: (transcript) => transcript },
  { name: 'tools with meaningless names', apply: withoutNames },
  { name: 'one tool that calls all others', apply: ofBlocks(throughOne) },
  ofResults('results as lists of text parts', (text) => [{ type: 'text', text }]),
  ofResults('results as JSON with an exit code', (output) =>
    JSON.stringify({ output, metadata: { exit_code: 0, duration_seconds: 0.3 } }),
  ),
  ofResults('results below a header', (text) =>
    [`Wall time: 0.${text.length % 97} seconds`, 'Exit code: 0', 'Output:', text].join('\n'),
  ),
  ofResults('results above a reminder', (text) =>
    [text, '', '<system-reminder>', 'Nothing is on the list of tasks.', '</system-reminder>'].join(
      '\n',
    ),
  ),
  ofResults('line numbers as in `12: text`', (text) => text.replace(LINE_NUMBER, '$1: ')),
  ofResults('some lines in color', (text) =>
    text
      .split('\n')
      .map((line) => (line.length % 3 > 0 ? line : `${ESCAPE}[32m${line}${ESCAPE}[0m`))
      .join('\n'),
  ),
  ofResults('CRLF', (text) => text.replaceAll(/\r?\n/g, '\r\n')),
  { name: 'Windows paths', apply: ofBlocks((block) => withTexts(block, windowsPaths)) },
  { name: 'commands in `bash -lc`', apply: ofBlocks(inLoginShell) },
  { name: 'two calls at a time', apply: ofEntries(inPairs) },
];

function ofEntries(
  change: (entries: readonly IContent[]) => readonly IContent[],
): Transformation['apply'] {
  return (transcript) => ({ ...transcript, entries: [...change(transcript.entries)] });
}

function ofBlocks(change: (block: ContentBlock) => ContentBlock): Transformation['apply'] {
  return ofEntries((entries) =>
    entries.map((entry) => ({ ...entry, blocks: entry.blocks.map(change) })),
  );
}

/** Changes the results that are texts. */
function ofResults(
  name: string,
  change: (text: string, result: ToolResponseBlock) => unknown,
): Transformation {
  const apply = ofBlocks((block) =>
    block.type === 'tool_response' && typeof block.result === 'string'
      ? { ...block, result: change(block.result, block) }
      : block,
  );
  return { name, apply };
}

/** Renames all tools, also in the catalog, by which only the measurement knows them. */
function withoutNames(transcript: Transcript): Transcript {
  const { preset } = transcript;
  const names = new Map<string, string>();
  const renamed = (name: string): string => {
    const known = names.get(name) ?? `tool_${names.size + 1}`;
    names.set(name, known);
    return known;
  };
  const changed = ofBlocks((block) => {
    if (block.type === 'tool_call') return { ...block, name: renamed(block.name) };
    if (block.type !== 'tool_response') return block;
    return { ...block, toolName: renamed(block.toolName) };
  })(transcript);
  const uses = Object.entries(preset.toolCatalog).map(([name, use]) => [renamed(name), use]);
  const toolCatalog = Object.fromEntries(uses) as typeof preset.toolCatalog;
  return { ...changed, preset: { ...preset, toolCatalog } };
}

/** A call or result of the tool that is given the name and the arguments of another one. */
function throughOne(block: ContentBlock): ContentBlock {
  const name = 'call_tool';
  if (block.type === 'tool_response') return { ...block, toolName: name };
  if (block.type !== 'tool_call') return block;
  return { ...block, name, parameters: { tool_name: block.name, arguments: block.parameters } };
}

/** A call that gives its command line to another shell. The first words of an editor's calls are no command lines. */
function inLoginShell(block: ContentBlock): ContentBlock {
  if (block.type !== 'tool_call' || !isRecord(block.parameters)) return block;
  const { command } = block.parameters;
  if (typeof command !== 'string' || !command.includes(' ')) return block;
  const quoted = command.replaceAll("'", `'\\''`);
  return { ...block, parameters: { ...block.parameters, command: `bash -lc '${quoted}'` } };
}

/** A call or result with all of its texts changed. */
function withTexts(block: ContentBlock, change: (text: string) => string): ContentBlock {
  if (block.type === 'tool_call')
    return { ...block, parameters: inTexts(block.parameters, change) };
  if (block.type !== 'tool_response') return block;
  return { ...block, result: inTexts(block.result, change) };
}

function inTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value);
  if (Array.isArray(value)) return value.map((each) => inTexts(each, change));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [key, inTexts(each, change)]),
  );
}

function windowsPaths(text: string): string {
  return text.replace(ABSOLUTE_PATH, (path) => `C:${path.replaceAll('/', '\\')}`);
}

/** Joins two rounds of calls and results into one, as agents do that call tools in parallel. */
function inPairs(entries: readonly IContent[]): readonly IContent[] {
  const paired: IContent[] = [];
  for (let at = 0; at < entries.length; at += 1) {
    const round = entries.slice(at, at + 4);
    const [calls, results, laterCalls, laterResults] = round;
    const isPair = round.length === 4 && round.every(isOfRound);
    if (isPair && calls && results && laterCalls && laterResults) {
      paired.push(joined(calls, laterCalls), joined(results, laterResults));
      at += 3;
    } else if (calls !== undefined) {
      paired.push(calls);
    }
  }
  return paired;
}

/** Whether every other entry only calls tools, and the others answer. Signed reasoning cannot move. */
function isOfRound({ speaker, blocks }: IContent, at: number): boolean {
  if (at % 2 === 1) return speaker === 'tool';
  return speaker === 'ai' && blocks.some(isCall) && !blocks.some(({ type }) => type === 'thinking');
}

function isCall({ type }: ContentBlock): boolean {
  return type === 'tool_call';
}

function joined(first: IContent, second: IContent): IContent {
  return { ...first, blocks: [...first.blocks, ...second.blocks] };
}
