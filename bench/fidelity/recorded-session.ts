// A recorded session as the measurement sees it: its entries, the edits that the agent made, and what
// shows the lines that they replaced. Reads no file.

import type { ContentBlock } from '../../src/index.js';
import type { Transcript } from '../../src/transcripts.js';
import { NumberedLines } from './numbered-lines.js';
import { replacedTexts } from './replaced-texts.js';
import { shellEdits } from './shell-edits.js';
import { VisibleLines } from './visible-lines.js';

/** A text that an agent replaced in a file. */
export interface SessionEdit {
  /** Index of the entry with the call: what the model then knew is in the entries before. */
  readonly entry: number;
  readonly callId: string;
  readonly tool: string;
  readonly file: string;
  readonly lines: readonly string[];
}

export interface RecordedSession {
  /** Where it was read from. */
  readonly source: string;
  readonly transcript: Transcript;
  /** The edits whose every line the unpruned context held, in order. */
  readonly edits: readonly SessionEdit[];
  /** How many other edits there were: of lines that came from nowhere in the session, as from a summary. */
  readonly unseenEdits: number;
  /** Knows all blocks of the session. */
  readonly lines: VisibleLines;
}

/** Takes a session for measuring. Edits that the session tells to have failed replaced nothing and are left out. */
export function recordSession(source: string, transcript: Transcript): RecordedSession {
  const { entries } = transcript;
  const lines = new VisibleLines();
  const entryOf = new Map<ContentBlock, number>();
  entries.forEach((entry, index) => {
    for (const block of entry.blocks) {
      lines.add(block);
      if (!entryOf.has(block)) entryOf.set(block, index);
    }
  });
  const all = editsOf(transcript);
  const edits = all.filter((edit) =>
    edit.lines.every((line) => {
      const [first] = lines.holders(line);
      return first !== undefined && (entryOf.get(first) ?? Infinity) < edit.entry;
    }),
  );
  return { source, transcript, edits, unseenEdits: all.length - edits.length, lines };
}

/** The edits of a session, but for those that failed. Those of a shell count where the agent has no other editor. */
export function editsOf({ entries, preset }: Transcript): readonly SessionEdit[] {
  const failed = new Set<string>();
  for (const { blocks } of entries) {
    for (const block of blocks) {
      if (block.type === 'tool_response' && block.error !== undefined) failed.add(block.callId);
    }
  }
  const hasEditor = Object.values(preset.toolCatalog)
    .flat()
    .some(({ access }) => access === 'write');
  const window = new NumberedLines();
  return entries.flatMap(({ speaker, blocks }, entry) =>
    blocks.flatMap((block): readonly SessionEdit[] => {
      if (block.type === 'tool_response') window.see(block);
      if (speaker !== 'ai' || block.type !== 'tool_call' || failed.has(block.id)) return [];
      const texts = [
        ...replacedTexts(block.parameters),
        ...window.replacedBy(block),
        ...(hasEditor ? [] : shellEdits(shellCommand(block.parameters))),
      ];
      return texts.map(({ file, lines }) => {
        return { entry, callId: block.id, tool: block.name, file, lines };
      });
    }),
  );
}

function shellCommand(parameters: unknown): string {
  if (typeof parameters !== 'object' || parameters === null) return '';
  const { command } = parameters as Readonly<Record<string, unknown>>;
  return typeof command === 'string' ? command : '';
}
