// Reads a trace: a recorded session reduced to numbers, which tells what each answer used but not its text. Makes a playable
// session of it: texts of the right length, calls of the right kind, numbered files.

import { z } from 'zod';
import { agentPreset } from '../../src/index.js';
import type { ContentBlock, IContent } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';
import { NEED_KINDS } from './needs/need.js';
import type { Need, NeedKind } from './needs/need.js';
import { contextOf } from './recorded-session.js';
import type { RecordedSession } from './recorded-session.js';

const TOOLS = ['read', 'write', 'search', 'shell', 'shell-read', 'shell-search', 'other'] as const;

const ITEM = z.object({
  kind: z.enum(['user', 'summary', 'text', 'thinking', 'call', 'result']),
  tokens: z.number().nonnegative(),
  firstCall: z.int().nonnegative(),
  tool: z.enum(TOOLS).optional(),
  answers: z.int().nonnegative().optional(),
  failed: z.boolean().optional(),
  lines: z.tuple([z.number(), z.number()]).optional(),
  files: z.array(z.int()).optional(),
});
const NEED = z.object({
  call: z.int().nonnegative(),
  type: z.enum(['edit', 'id-write', 'id-other', 'quote']),
  weight: z.number(),
  anyOf: z.array(z.array(z.int().nonnegative()).min(1)),
});
const CONTEXT = z.object({
  gapsMs: z.array(z.number()),
  items: z.array(ITEM),
  needs: z.array(NEED),
});
const TRACE = z.object({ format: z.string(), contexts: z.array(CONTEXT) });

type TraceItem = z.infer<typeof ITEM>;
type TraceContext = z.infer<typeof CONTEXT>;

/** All agents' traces use the tools of Claude Code, whose catalog knows reads, edits, searches and commands. */
const PRESET = agentPreset('claude-code');
/** A word of about one token. */
const FILLER = ' xxx';
const CHARACTERS_PER_TOKEN = FILLER.length;
/** A command names at most this many of its files. */
const MAX_NAMED = 8;

/** The contexts of a trace, one session each; `undefined` if it is not a trace. */
export function readTrace(source: string, text: string): readonly RecordedSession[] | undefined {
  const trace = TRACE.safeParse(parsed(text)).data;
  return trace?.contexts.map((context) => sessionOf(source, trace.format, context));
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function sessionOf(source: string, format: string, context: TraceContext): RecordedSession {
  const blocks = context.items.map((item, at) => blockOf(item, at, context.items));
  const { entries, answers } = entriesOf(context, blocks);
  const transcript: Transcript = { format: 'claude-code', entries, warnings: [], preset: PRESET };
  const needs = [
    ...context.needs.map((need): Need => {
      const shownBy = need.anyOf.map((group) => group.flatMap((at) => blocks[at] ?? []));
      // No text contains these lines, so only the items themselves show them.
      const lines = need.anyOf.map((group) => `item ${group.join(' or ')}`);
      const kind = kindOf(need, context.items);
      const subject = { entry: answers[need.call] ?? 0, callId: '', tool: '', file: '' };
      return { kind, ...subject, weight: need.weight, lines, shownBy };
    }),
    ...context.items.flatMap((item, at): readonly Need[] => {
      const block = blocks[at];
      const last = answers.at(-1);
      if (item.kind !== 'user' || block === undefined || last === undefined) return [];
      const subject = { entry: last, callId: '', tool: '', file: '', weight: 1 };
      return [{ kind: 'words', ...subject, lines: [`item ${at}`], shownBy: [[block]] }];
    }),
  ];
  return contextOf(source, format, transcript, needs, 0);
}

/** The kind of the first call in the answer that can have used an identifier. */
function kindOf(
  { type, call }: TraceContext['needs'][number],
  items: readonly TraceItem[],
): NeedKind {
  if (type === 'id-write') return 'id-edit';
  if (type !== 'id-other') return type;
  const user = items.find(
    ({ kind, tool, firstCall }) => kind === 'call' && firstCall === call + 1 && tool !== 'write',
  );
  const kind = `id-${(user?.tool ?? 'other').replace('shell-', '').replace('shell', 'command')}`;
  return NEED_KINDS.find((known) => known === kind) ?? 'id-other';
}

/** One entry for each answer, and one for each item in between. */
function entriesOf(
  { gapsMs, items }: TraceContext,
  blocks: readonly ContentBlock[],
): { readonly entries: readonly IContent[]; readonly answers: readonly number[] } {
  const entries: IContent[] = [];
  const answers: number[] = [];
  // Everything in a request existed when the request was made.
  let timestamp = 0;
  for (let call = 0; call <= gapsMs.length; call += 1) {
    const added = items.flatMap((item, at) => {
      const block = blocks[at];
      return item.firstCall === call && block !== undefined ? [{ item, block }] : [];
    });
    const said = added.filter(({ item }) => isSaid(item)).map(({ block }) => block);
    if (call > 0) {
      answers.push(entries.length);
      entries.push({ speaker: 'ai', blocks: said, metadata: { timestamp } });
    }
    timestamp += gapsMs[call] ?? 0;
    for (const { item, block } of added) {
      if (isSaid(item)) continue;
      entries.push({
        speaker: item.kind === 'result' ? 'tool' : 'human',
        blocks: [block],
        metadata: { timestamp, ...(item.kind === 'summary' && { isSummary: true }) },
      });
    }
  }
  return { entries, answers };
}

/** Whether an item is part of an answer. */
function isSaid({ kind }: TraceItem): boolean {
  return kind === 'text' || kind === 'thinking' || kind === 'call';
}

function blockOf(item: TraceItem, at: number, items: readonly TraceItem[]): ContentBlock {
  const characters = Math.round(CHARACTERS_PER_TOKEN * item.tokens);
  switch (item.kind) {
    case 'user':
    case 'summary':
    case 'text':
      return { type: 'text', text: filler(characters) };
    case 'thinking':
      return { type: 'thinking', thought: filler(characters) };
    case 'call': {
      const { name, parameters } = callOf(item, at);
      const padding = characters - name.length - JSON.stringify(parameters).length;
      const padded = { ...parameters, rest: filler(Math.max(0, padding)) };
      return { type: 'tool_call', id: `call-${at}`, name, parameters: padded };
    }
    case 'result': {
      const call = item.answers ?? -1;
      return {
        type: 'tool_response',
        callId: `call-${call}`,
        toolName: callOf(items[call] ?? item, call).name,
        result: filler(characters),
        ...(item.failed === true && { error: 'failed' }),
      };
    }
  }
}

/** A text of that many characters, with one word per token. */
function filler(characters: number): string {
  return FILLER.repeat(Math.ceil(characters / FILLER.length)).slice(0, characters);
}

function callOf(
  { tool, files = [], lines }: TraceItem,
  at: number,
): { readonly name: string; readonly parameters: object } {
  const [first = `call${at}`] = files.map((file) => `file${file}.ts`);
  const named = files
    .slice(0, MAX_NAMED)
    .map((file) => `file${file}.ts`)
    .join(' ');
  switch (tool) {
    case 'read': {
      const [from, to] = lines ?? [];
      const range = from !== undefined && to !== undefined;
      return {
        name: 'Read',
        parameters: { file_path: first, ...(range && { offset: from, limit: to - from + 1 }) },
      };
    }
    case 'write':
      return { name: 'Edit', parameters: { file_path: first } };
    case 'search':
      return { name: 'Grep', parameters: { pattern: `pattern${at}`, path: first } };
    case 'shell':
      return { name: 'Bash', parameters: { command: `run call${at} ${named}` } };
    case 'shell-read': {
      const shown = named === '' ? `call${at}.ts` : named;
      // The trace does not say which part of the file was shown, so each command is unique to avoid false duplicates.
      const command =
        lines === undefined ? `tail -c ${at} ${shown}` : `sed -n '${lines.join()}p' ${shown}`;
      return { name: 'Bash', parameters: { command } };
    }
    case 'shell-search':
      return { name: 'Bash', parameters: { command: `grep pattern${at} ${named}` } };
    case 'other':
    case undefined:
      return { name: 'Other', parameters: { of: `call${at}` } };
  }
}
