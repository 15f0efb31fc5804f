// The readers of recorded sessions as subjects, one per format.

import { streamTranscript, TRANSCRIPT_FORMATS } from '../../src/transcripts.js';
import type { TranscriptFormat } from '../../src/transcripts.js';
import { recordingOf } from './recordings.js';
import type { Subject } from './subject.js';

/** The size of a file read. */
const CHUNK = 64 * 1024;

async function* chunksOf(text: string): AsyncGenerator<string> {
  await Promise.resolve();
  for (let at = 0; at < text.length; at += CHUNK) yield text.slice(at, at + CHUNK);
}

async function readAll(text: string, format: TranscriptFormat): Promise<number> {
  let events = 0;
  for await (const _ of streamTranscript(chunksOf(text), { format })) events += 1;
  return events;
}

export const READER_SUBJECTS: readonly Subject[] = TRANSCRIPT_FORMATS.map((format) => ({
  name: `the reader of ${format}`,
  prepare: (history) => {
    const text = recordingOf(history, format);
    return () => readAll(text, format);
  },
}));
