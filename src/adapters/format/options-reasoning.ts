// Reasoning in the provider options of a call. OpenRouter's package for the AI SDK puts the reasoning of a step there, regardless of
// reasoning parts, and sends it from there.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { thinkingBlock } from '../../shared/content.js';
import type { ThinkingBlock } from '../../shared/content.js';

/** Returns the reasoning in the provider options of a call or of its message; empty if there is none. */
export function optionsReasoning(options: unknown): readonly JsonRecord[] {
  const { openrouter } = asRecord(options) ?? {};
  return asArray(asRecord(openrouter)?.['reasoning_details']).filter(isRecord);
}

/** Whether a reasoning detail is Gemini's, whose signatures cover calls. */
export function isOfGemini({ format }: JsonRecord): boolean {
  return asText(format)?.startsWith('google') === true;
}

/** Returns options without carried reasoning; the same object if there is none. */
export function withoutOptionsReasoning(options: unknown): unknown {
  if (optionsReasoning(options).length === 0) return options;
  const all = asRecord(options);
  const { reasoning_details: _, ...openrouter } = asRecord(all?.['openrouter']) ?? {};
  return { ...all, openrouter };
}

/**
 * Returns the block of carried reasoning; `undefined` if there are no details.
 *
 * @param isInParts whether reasoning parts hold the same text, so that the block has none and the text counts once
 */
export function optionsReasoningBlock(
  details: readonly JsonRecord[],
  isInParts: boolean,
): ThinkingBlock | undefined {
  if (details.length === 0) return undefined;
  if (isInParts) return thinkingBlock('');
  const textOf = (...keys: readonly string[]): string =>
    details.flatMap((detail) => keys.flatMap((key) => asText(detail[key]) ?? [])).join('\n');
  const data = textOf('data');
  return thinkingBlock(textOf('text', 'summary'), data === '' ? {} : { encryptedContent: data });
}
