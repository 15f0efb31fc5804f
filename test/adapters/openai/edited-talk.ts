// Random edits of conversations, like those of density and compression, through the engine's view of the messages.

import fc from 'fast-check';
import type { MessageFormat, PlacedEntry } from '../../../src/adapters/format/message-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import type { ContentBlock, IContent } from '../../../src/shared/content.js';
import { hasSubstance } from '../../../src/shared/content.js';
import { orphanedReasoning } from '../../../src/shared/density/plan/materialize.js';
import { runSlices } from '../../../src/shared/slices.js';
import { readInto } from '../../support/read-all.js';

/** Which calls are removed and which results are shrunk, by the number of the call, cyclically. */
export interface Edits {
  readonly calls: readonly ('keep' | 'drop' | 'shrink')[];
  /** By the number of the entry, cyclically. */
  readonly entries: readonly boolean[];
}

export const arbitraryEdits: fc.Arbitrary<Edits> = fc.record({
  calls: fc.array(fc.constantFrom('keep' as const, 'drop' as const, 'shrink' as const), {
    minLength: 1,
    maxLength: 7,
  }),
  entries: fc.array(
    fc.oneof(
      { weight: 4, arbitrary: fc.constant(false) },
      { weight: 1, arbitrary: fc.constant(true) },
    ),
    { minLength: 1, maxLength: 7 },
  ),
});

/** The replacement of a shrunk result. */
export const SHRUNK = 'shrunk';

/** A conversation that was read in two halves and edited once. */
export interface EditedTalk<Message> {
  readonly entries: readonly PlacedEntry[];
  readonly standing: readonly Message[];
}

/** Reads messages in two steps, and edits them. */
export function editTalk<Message extends object>(
  format: MessageFormat<Message>,
  messages: readonly Message[],
  edits: Edits,
): EditedTalk<Message> {
  const view = new MessageView(format);
  // Consecutive items of the model arrive together.
  const last = messages.findLastIndex(isInstruction);
  const entries = [messages.slice(0, last + 1), messages.slice(last + 1)].flatMap((part) => {
    const read = readInto(view, part);
    return read;
  });
  runSlices(view.followInSlices(editEntries(entries, edits)));
  return { entries, standing: view.current };
}

function editEntries(entries: readonly IContent[], { calls, entries: gone }: Edits): IContent[] {
  const ids = entries.flatMap(({ blocks }) =>
    blocks.flatMap((block) => (block.type === 'tool_call' ? [block.id] : [])),
  );
  const fates = new Map(ids.map((id, at) => [id, calls[at % calls.length]]));
  entries.forEach(({ speaker, blocks }, at) => {
    if (speaker !== 'ai' || gone[at % gone.length] !== true) return;
    for (const block of blocks) if (block.type === 'tool_call') fates.set(block.id, 'drop');
  });
  const fateOf = (block: ContentBlock): string | undefined => {
    if (block.type === 'tool_call') return fates.get(block.id);
    return block.type === 'tool_response' ? fates.get(block.callId) : 'keep';
  };
  return entries.flatMap((entry, at) => {
    if (entry.speaker === 'ai' && gone[at % gone.length] === true) return [];
    const orphans = new Set(
      orphanedReasoning(entry.blocks, (place) => fateOf(entry.blocks[place]!) === 'drop'),
    );
    const blocks = entry.blocks.flatMap((block, place) => {
      if (orphans.has(place) || fateOf(block) === 'drop') return [];
      const shrinks = block.type === 'tool_response' && fateOf(block) === 'shrink';
      return [shrinks ? { ...block, result: SHRUNK } : block];
    });
    return blocks.some(hasSubstance) ? [{ ...entry, blocks }] : [];
  });
}

function isInstruction(message: object): boolean {
  return 'role' in message && (message.role === 'user' || message.role === 'system');
}
