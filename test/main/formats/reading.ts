// Reads transcripts given as text or records, and checks that each history pairs its calls.

import type { IContent } from '../../../src/shared/content.js';
import { streamTranscript } from '../../../src/main/formats/read-transcript.js';
import type { TranscriptFormat, TranscriptWarning } from '../../../src/main/formats/transcript.js';

export interface Reading {
  readonly format: TranscriptFormat | undefined;
  readonly workspaceRoot: string | undefined;
  readonly entries: readonly IContent[];
  readonly contextStarts: readonly number[];
  readonly warnings: readonly TranscriptWarning[];
}

/** Reads chunks as `streamTranscript` does, and collects what it yields. */
export async function readChunks(
  chunks: Iterable<string | Uint8Array>,
  format?: TranscriptFormat,
): Promise<Reading> {
  let found: TranscriptFormat | undefined;
  let workspaceRoot: string | undefined;
  const entries: IContent[] = [];
  const contextStarts: number[] = [];
  const warnings: TranscriptWarning[] = [];
  for await (const event of streamTranscript(asyncChunks(chunks), format && { format })) {
    if (event.kind === 'entry') entries.push(event.content);
    else if (event.kind === 'warning') warnings.push(event.warning);
    else if (event.kind === 'format') found = event.format;
    else if (event.kind === 'workspace-root') workspaceRoot = event.path;
    else contextStarts.push(entries.length);
  }
  return { format: found, workspaceRoot, entries, contextStarts, warnings };
}

/** Reads records as JSON Lines. */
export function readLines(
  records: readonly unknown[],
  format?: TranscriptFormat,
): Promise<Reading> {
  return readChunks([records.map((record) => `${JSON.stringify(record)}\n`).join('')], format);
}

/** Reads one JSON document. */
export function readJson(document: unknown, format?: TranscriptFormat): Promise<Reading> {
  return readChunks([JSON.stringify(document)], format);
}

export async function* asyncChunks(
  chunks: Iterable<string | Uint8Array>,
): AsyncGenerator<string | Uint8Array, void> {
  await Promise.resolve();
  yield* chunks;
}

/** The entries without their metadata. */
export function bare(entries: readonly IContent[]): readonly IContent[] {
  return entries.map(({ speaker, blocks }) => ({ speaker, blocks }));
}

/** Violations of the pairing of calls and responses in a history; empty when each response follows its call. */
export function pairingFaults(entries: readonly IContent[]): readonly string[] {
  const faults: string[] = [];
  const open = new Set<string>();
  const seen = new Set<string>();
  for (const [index, { speaker, blocks }] of entries.entries()) {
    if (blocks.length === 0) faults.push(`entry ${index} is empty`);
    for (const block of blocks) {
      if (block.type === 'tool_call') {
        if (speaker !== 'ai') faults.push(`a call stands in ${speaker} entry ${index}`);
        if (seen.has(block.id)) faults.push(`the call id ${block.id} is used twice`);
        seen.add(block.id);
        open.add(block.id);
      } else if (block.type === 'tool_response') {
        if (speaker !== 'tool') faults.push(`a response stands in ${speaker} entry ${index}`);
        if (!open.delete(block.callId)) faults.push(`${block.callId} answers no open call`);
      } else if (speaker === 'tool') faults.push(`tool entry ${index} holds a ${block.type}`);
    }
  }
  return faults;
}
