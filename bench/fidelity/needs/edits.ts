// Needs of edits: the agent must have had the replaced lines in view to write them down.

import type { Transcript } from '../../../src/transcripts.js';
import { NumberedLines } from '../numbered-lines.js';
import { replacedTexts } from '../replaced-texts.js';
import { shellEdits } from '../shell-edits.js';
import type { Need } from './need.js';
import type { ShownBefore } from './shown-before.js';

/** A text that an agent replaced in a file. */
export type SessionEdit = Pick<Need, 'entry' | 'callId' | 'tool' | 'file' | 'lines'>;

/**
 * The needs of the edits whose lines were all in context before; and the number of other edits, whose lines came from elsewhere,
 * such as a summary.
 */
export function editNeeds(
  transcript: Transcript,
  shown: ShownBefore,
): { readonly needs: readonly Need[]; readonly unseen: number } {
  const edits = editsOf(transcript);
  const needs = edits.flatMap((edit): readonly Need[] => {
    const shownBy = edit.lines.map((line) => shown.holders(line, edit.entry));
    const isSeen = shownBy.every((holders) => holders.length > 0);
    return isSeen ? [{ kind: 'edit', ...edit, weight: 1, shownBy }] : [];
  });
  return { needs, unseen: edits.length - needs.length };
}

/** The successful edits of a session. Shell edits count if the agent has no other editor. */
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
