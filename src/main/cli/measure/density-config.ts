// How the history of a transcript is pruned: by what is known of its agent, and what the command line says.

import { DEFAULT_DENSITY_CONFIG, withColdCache } from '../../../density.js';
import type { DensityConfig } from '../../../density.js';
import type { Transcript } from '../../../transcripts.js';

/** What the command line says about pruning. */
export interface PruningOptions {
  /** Results to keep per tool; switches recency pruning on. */
  readonly recencyRetention?: number | undefined;
  /** Where relative paths start. @default what the transcript recorded, else the working directory */
  readonly workspaceRoot?: string | undefined;
}

/** The same for a session that is taken up after some time: no cache holds it any more, and all leaves that may. */
export function densityConfigAtRest(
  transcript: Pick<Transcript, 'preset' | 'workspaceRoot'>,
  options: PruningOptions,
): DensityConfig {
  const workingSet = withColdCache(transcript.preset.workingSet);
  return { ...densityConfigOf(transcript, options), workingSet };
}

/** Returns the configuration of the passes that a session of the transcript's agent makes. */
export function densityConfigOf(
  transcript: Pick<Transcript, 'preset' | 'workspaceRoot'>,
  { recencyRetention, workspaceRoot }: PruningOptions,
): DensityConfig {
  return {
    ...DEFAULT_DENSITY_CONFIG,
    ...transcript.preset,
    workspaceRoot: workspaceRoot ?? transcript.workspaceRoot ?? process.cwd(),
    ...(recencyRetention !== undefined && { recencyPruning: true, recencyRetention }),
  };
}
