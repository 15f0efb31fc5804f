// Finds out where a removal log left off, from its last part alone: a long one must not make opening slow.

import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import { readRemovals } from './removal-reader.js';

/** How a removal log ends. */
export interface LogTail {
  readonly sizeBytes: number;
  /** Whether what is appended now starts a line of its own. */
  readonly endsInLineBreak: boolean;
  /** The highest number of the last records, or -1 when the file holds none. */
  readonly lastSeq: number;
}

const FIRST_WINDOW_BYTES = 64 * 1024;
const WINDOW_GROWTH = 8;
const LINE_BREAK = 0x0a;

/**
 * Reads back from the end until there is a record. Numbers ascend, so that the highest among the last
 * records is the highest of all.
 */
export async function readLogTail(path: string): Promise<LogTail> {
  const { sizeBytes, endsInLineBreak } = await readEnd(path);
  let lastSeq = -1;
  let windowBytes = FIRST_WINDOW_BYTES;
  for (let startOffset = sizeBytes; startOffset > 0 && lastSeq === -1;) {
    startOffset = Math.max(0, sizeBytes - windowBytes);
    for await (const { record } of readRemovals(path, { startOffset, endOffset: sizeBytes })) {
      lastSeq = Math.max(lastSeq, record.seq);
    }
    windowBytes *= WINDOW_GROWTH;
  }
  return { sizeBytes, endsInLineBreak, lastSeq };
}

async function readEnd(path: string): Promise<Pick<LogTail, 'sizeBytes' | 'endsInLineBreak'>> {
  const handle = await open(path, constants.O_RDONLY);
  try {
    const { size } = await handle.stat();
    if (size === 0) return { sizeBytes: 0, endsInLineBreak: true };
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, size - 1);
    return { sizeBytes: size, endsInLineBreak: buffer[0] === LINE_BREAK };
  } finally {
    await handle.close();
  }
}
