// What reading a transcript yields: the known formats, the events of a stream and the warnings
// about what was left out. Plain data only.

import type { IContent } from '../../shared/content.js';

/** The agents whose recorded sessions can be read; formats.ts has their readers. */
export const TRANSCRIPT_FORMATS = [
  'claude-code',
  'codex',
  'pi',
  'gemini-cli',
  'mini-swe-agent',
  'swe-agent',
  'cline',
  'openai-chat',
] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** Where in a transcript something stands. */
export interface TranscriptPlace {
  /** The line of a JSON Lines file, counted from 1. */
  readonly line?: number;
  /** The path within a JSON document, such as `messages[3]`. */
  readonly place?: string;
}

/** Something in a transcript that could not be taken as it is: left out, or mended where the message says so. */
export interface TranscriptWarning extends TranscriptPlace {
  readonly message: string;
}

/**
 * What a stream of a transcript tells, in order: `format` first, `workspace-root` at most once, then
 * the entries of a valid history, with warnings between them. Warnings that count something come last.
 */
export type TranscriptEvent =
  | { readonly kind: 'format'; readonly format: TranscriptFormat }
  | { readonly kind: 'workspace-root'; readonly path: string }
  /** The agent has compacted its history: the entries from here on are all that it still had. */
  | { readonly kind: 'context-start' }
  | { readonly kind: 'entry'; readonly content: IContent }
  | { readonly kind: 'warning'; readonly warning: TranscriptWarning };
