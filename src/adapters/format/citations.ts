// Citations that refer to a document or search result by its index in the whole request. Once one of these is removed, the indices
// refer to another one, or to none.

import { asArray, asRecord, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { Citations } from './message-format.js';

const CITED_TYPES: ReadonlySet<unknown> = new Set(['document', 'search_result']);

/**
 * Returns the `citations` of a format whose messages have documents and search results in `content`.
 *
 * @param withContent returns a message with other content
 */
export function citationsInContent<Message extends { readonly content?: unknown }>(
  withContent: (message: Message, content: Message['content']) => Message,
): Citations<Message> {
  return {
    count: ({ content }) => countCited(content),
    remove: (message) => {
      const content = withoutCitations(message.content);
      return content === message.content ? message : withContent(message, content);
    },
  };
}

/** Returns the number of documents and search results in the content of a message, including those in tool results. */
export function countCited(content: unknown): number {
  if (Array.isArray(content)) {
    return content.reduce<number>((count, part: unknown) => count + countCited(part), 0);
  }
  if (!isRecord(content)) return 0;
  return CITED_TYPES.has(content['type']) ? 1 : countCited(content['content']);
}

/** Returns the content without citations by number; the same object if it has none. */
export function withoutCitations<Content>(content: Content): Content {
  const parts: readonly unknown[] = asArray(content);
  return parts.some(citesByNumber) ? (parts.map(withoutOwn) as Content) : content;
}

function withoutOwn(part: unknown): unknown {
  if (!citesByNumber(part)) return part;
  const { citations, ...rest } = part;
  const others = asArray(citations).filter((citation) => !isByNumber(citation));
  return others.length === 0 ? rest : { ...rest, citations: others };
}

function citesByNumber(part: unknown): part is JsonRecord {
  return asArray(asRecord(part)?.['citations']).some(isByNumber);
}

function isByNumber(citation: unknown): boolean {
  const { document_index: document, search_result_index: result } = asRecord(citation) ?? {};
  return typeof document === 'number' || typeof result === 'number';
}
