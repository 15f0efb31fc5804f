// The data that reading a transcript yields: format names, stream events and warnings.

import type { IContent } from '../../shared/content.js';

/** The formats that can be read; formats.ts has their readers. */
export const TRANSCRIPT_FORMATS = [
  'claude-code',
  'codex',
  'pi',
  'ai-sdk',
  'gemini-cli',
  'mini-swe-agent',
  'swe-agent',
  'cline',
  'openai-chat',
] as const;

export type TranscriptFormat = (typeof TRANSCRIPT_FORMATS)[number];

/** A location in a transcript. */
export interface TranscriptPlace {
  /** The line of a JSON Lines file, counted from 1. */
  readonly line?: number;
  /** The path within a JSON document, such as `messages[3]`. */
  readonly place?: string;
}

/** Something in a transcript that was left out, or repaired if the message says so. */
export interface TranscriptWarning extends TranscriptPlace {
  readonly message: string;
}

/**
 * An event of a transcript stream. Order: `format` first, `workspace-root` at most once, then the
 * entries of a valid history with warnings in between. Warnings that count something come last.
 */
export type TranscriptEvent =
  | { readonly kind: 'format'; readonly format: TranscriptFormat }
  | { readonly kind: 'workspace-root'; readonly path: string }
  /** The agent compacted its history, or another session begins: its context consists of the entries that follow. */
  | { readonly kind: 'context-start' }
  | { readonly kind: 'entry'; readonly content: IContent }
  | { readonly kind: 'warning'; readonly warning: TranscriptWarning };
