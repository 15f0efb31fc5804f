// The bundled prompt for summaries. Its one source is compression.md beside this file, which the
// build copies to dist.

import { readFileSync } from 'node:fs';

let text: string | undefined;

/** Returns the system prompt that strategies give a summarizer unless another one is configured. */
export function getCompressionPrompt(): string {
  // Read on first use: most sessions never ask a model.
  text ??= readFileSync(new URL('./compression.md', import.meta.url), 'utf8');
  return text;
}
