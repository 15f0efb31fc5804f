// Why one entry of a session that was played stayed, or when it went and why. Pure.

import type { EntryExplanation } from '../../../density.js';
import { explainLeft } from '../replay/recording.js';
import type { Recording } from '../replay/recording.js';

/** What became of an entry. */
export interface ExplainedEntry {
  /** Why it went, by the pass that took it or a part of it; else what one more pass would do. Places are those of the transcript. */
  readonly explanation: EntryExplanation;
  /** When that landed; `null` where nothing has. */
  readonly landed: LandedEdit | null;
}

/** An edit that has landed. */
export interface LandedEdit {
  /** The model call before which it did, counted from 1; `null` after the last one. */
  readonly modelCall: number | null;
  readonly step: 'pruned' | 'compressed';
}

/** Returns what became of an entry, by its index in the transcript; `null` for one that was not played. */
export function explainEntry(recording: Recording, index: number): ExplainedEntry | null {
  const { report, contexts, density } = recording;
  const entry = contexts.flatMap(({ said }) => said)[index];
  if (entry === undefined) return null;
  const context = contexts.find(({ origins }) => origins.includes(index));
  const at = context?.origins.indexOf(index) ?? -1;
  const landed = recording.landed.get(index);
  if (landed === undefined) {
    return context === undefined
      ? null
      : { explanation: explainLeft(context, density)(at), landed: null };
  }
  const modelCall = landed.turn < report.modelCalls.length ? landed.turn + 1 : null;
  const { explanation } = landed;
  if (explanation !== null) return { explanation, landed: { modelCall, step: 'pruned' } };
  const verdict = context === undefined ? 'removed' : 'changed';
  return {
    explanation: { index, speaker: entry.speaker, verdict, blocks: [] },
    landed: { modelCall, step: 'compressed' },
  };
}
