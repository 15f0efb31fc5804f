// Analyzes many sessions, a few at a time: parsing on the calling thread overlaps with counting on worker threads, and only a few
// histories are in memory at once.

import { availableParallelism } from 'node:os';
import { playFiles } from '../replay/play-file.js';
import type { PlayedFiles } from '../replay/play-file.js';
import type { ReplayOptions } from '../replay/replay-session.js';
import type { SessionFiles } from '../replay/session-files.js';
import { analyzeRecording } from './analysis.js';
import type { SessionAnalysis } from './analysis-report.js';

const MAX_THREADS = 8;

/** Analyzes files; most tokens first. @throws as `playFiles` does. */
export async function analyzeFiles(
  found: SessionFiles,
  options: ReplayOptions,
): Promise<PlayedFiles<SessionAnalysis>> {
  const { threads = Math.min(MAX_THREADS, availableParallelism()) } = options;
  // One more file than threads, so that one file is parsed while each thread counts another.
  const play = { ...options, threads, doing: 'analyzing', atOnce: threads + 1 };
  const { sessions, unread } = await playFiles(found, play, analyzeRecording);
  return { sessions: sessions.toSorted((a, b) => b.tokens.without - a.tokens.without), unread };
}
