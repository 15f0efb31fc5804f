// Readers of sessions that agents have recorded: exports only.

export { readTranscript, streamTranscript } from './main/formats/read-transcript.js';
export type { ReadTranscriptOptions, Transcript } from './main/formats/read-transcript.js';
export type { TranscriptChunks } from './main/formats/transcript-text.js';
export { TRANSCRIPT_FORMATS } from './main/formats/transcript.js';
export type {
  TranscriptEvent,
  TranscriptFormat,
  TranscriptPlace,
  TranscriptWarning,
} from './main/formats/transcript.js';
