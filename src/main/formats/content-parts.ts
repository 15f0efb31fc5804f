// What several formats have in common: content as a text or a list of parts.

import type { ContentBlock } from '../../shared/content.js';
import { asArray, asRecord, asText } from '../../shared/json.js';
import type { HistoryAssembler } from './history-assembler.js';

/**
 * Reads content: text, a list of parts, or absent. Leaves out anything else with a warning.
 *
 * @param readPart reads a part of a type; returns `undefined` if the type is unknown, or the part lacks its content
 */
export function readContent(
  content: unknown,
  history: HistoryAssembler,
  readPart: (part: unknown, type: string) => ContentBlock | undefined,
): readonly ContentBlock[] {
  if (content === undefined || content === null) return [];
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    history.warn('Content that is neither text nor a list was left out.');
    return [];
  }
  return asArray(content).flatMap((part) => {
    const type = asText(asRecord(part)?.['type']) ?? '';
    const block = readPart(part, type);
    if (block === undefined) history.tallyLeftOut('content parts of the unknown type', type);
    return block ?? [];
  });
}
