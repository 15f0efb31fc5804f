// A recorded session as the measurement sees it: its entries, the edits that the agent made, and what
// shows the lines that they replaced. Reads no file.

import type { ContentBlock, IContent, Transcript } from '../../src/index.js';
import { replacedTexts } from './replaced-texts.js';
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
  const all = editsOf(entries);
  const edits = all.filter((edit) =>
    edit.lines.every((line) => {
      const [first] = lines.holders(line);
      return first !== undefined && (entryOf.get(first) ?? Infinity) < edit.entry;
    }),
  );
  return { source, transcript, edits, unseenEdits: all.length - edits.length, lines };
}

/** The edits of a history, but for those that failed. */
export function editsOf(entries: readonly IContent[]): readonly SessionEdit[] {
  const failed = new Set<string>();
  for (const { blocks } of entries) {
    for (const block of blocks) {
      if (block.type === 'tool_response' && block.error !== undefined) failed.add(block.callId);
    }
  }
  return entries.flatMap(({ speaker, blocks }, entry) => {
    if (speaker !== 'ai') return [];
    return blocks.flatMap((block) => {
      if (block.type !== 'tool_call' || failed.has(block.id)) return [];
      return replacedTexts(block.parameters).map(({ file, lines }) => {
        return { entry, callId: block.id, tool: block.name, file, lines };
      });
    });
  });
}
