// What a tool said, in the AI SDK's `output` of a tool result: as the result of a response, and with an
// edited result put back. Pure; never changes an output.

import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { ToolResponseBlock } from '../../shared/content.js';
import { payloadText, payloadTokens } from '../../shared/tokens/content-text.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';

/** What of a response comes from the output. */
export type ToolOutcome = Pick<ToolResponseBlock, 'result' | 'error' | 'mediaTokens'>;

const FAILED = 'The tool failed.';
const DENIED = 'Tool execution denied.';

/**
 * Reads an output: texts and JSON are results as they are, of content the texts with stand-ins for
 * media and what these take, and of a kind that is not known its `value`. An error and a refusal by the user
 * set `error`.
 */
export function readToolOutput(output: JsonRecord): ToolOutcome {
  const { type, value } = output;
  switch (type) {
    case 'error-text':
    case 'error-json':
      return { result: value ?? '', error: FAILED };
    case 'execution-denied': {
      const { reason } = output;
      return { result: typeof reason === 'string' ? reason : DENIED, error: DENIED };
    }
    case 'content': {
      const mediaTokens = contentMediaTokens(value);
      return { result: contentText(value), ...(mediaTokens > 0 && { mediaTokens }) };
    }
    default:
      return { result: value ?? '' };
  }
}

/**
 * Returns the output with another result. It becomes a text; one that tells of an error or a refusal goes on
 * telling so, for that is not in the text. Options of the provider stay.
 */
export function rewriteToolOutput(output: JsonRecord, result: unknown): JsonRecord {
  const value = payloadText(result);
  switch (output['type']) {
    case 'execution-denied':
      return { ...output, reason: value };
    case 'error-text':
    case 'error-json':
      return { ...output, type: 'error-text', value };
    default:
      return { ...output, type: 'text', value };
  }
}

function contentText(value: unknown): string {
  if (!Array.isArray(value)) return payloadText(value);
  return (value as readonly unknown[]).map(itemText).join('\n');
}

/** The text of an item, or what it is: its payload may be megabytes. */
function itemText(item: unknown): string {
  if (!isRecord(item)) return '';
  const { type, text, mediaType, filename } = item;
  if (typeof text === 'string') return text;
  const names = [mediaType ?? type, filename].filter((name) => typeof name === 'string');
  return `[${names.join(' ')}]`;
}

function contentMediaTokens(value: unknown): number {
  if (!Array.isArray(value)) return 0;
  return (value as readonly unknown[]).reduce<number>((sum, item) => sum + itemTokens(item), 0);
}

/** What an item takes that its stand-in does not show. A file that is a text weighs what the text weighs. */
function itemTokens(item: unknown): number {
  if (!isRecord(item)) return 0;
  const { type, text, mediaType, data } = item;
  if (typeof text === 'string' || typeof type !== 'string' || !MEDIA_ITEM.test(type)) return 0;
  if (isRecord(data) && typeof data['text'] === 'string') {
    return estimatePayloadTokens(data['text']);
  }
  const named = typeof mediaType === 'string' ? mediaType : type;
  // The class may be all there is: `image` as a media type, `image-url` as a type.
  return payloadTokens(named.replace(/^image(?:-.*)?$/, 'image/*'));
}

/** `media`, `file` and `image`, and these with how they come: `file-data`, `image-url`, `image-file-id`. */
const MEDIA_ITEM = /^(?:media|file|image)(?:-|$)/;
