// Images and files in recorded content, in the form of any provider.

import type { MediaBlock } from '../../shared/content.js';
import { asArray, asRecord, asText, textOfParts } from '../../shared/json.js';
import { payloadTokens } from '../../shared/tokens/content-text.js';

/** Returns a block with base64 data, else with a URL, which may be a data URL; `undefined` if there is neither. */
export function mediaBlock(mimeType: string, data: unknown, url?: unknown): MediaBlock | undefined {
  if (typeof data === 'string') return { type: 'media', mimeType, data, encoding: 'base64' };
  if (typeof url !== 'string') return undefined;
  const [prefix, type = mimeType] = /^data:([^;,]*);base64,/.exec(url) ?? [];
  if (prefix === undefined) return { type: 'media', mimeType, data: url, encoding: 'url' };
  return { type: 'media', mimeType: type, data: url.slice(prefix.length), encoding: 'base64' };
}

/**
 * Takes images and files out of a result that is a list of parts: base64 is no text, and providers charge an image by its size in
 * pixels. `[image]` stays in the place of each; `mediaTokens` is absent if there are none.
 */
export function withoutMedia(result: unknown): { result: unknown; mediaTokens?: number } {
  if (!Array.isArray(result)) return { result };
  let mediaTokens = 0;
  const parts = asArray(result).map((part) => {
    const media = mediaIn(part);
    if (media === undefined) return part;
    mediaTokens += payloadTokens(media.mimeType);
    return media.mimeType.startsWith('image/') ? '[image]' : '[file]';
  });
  return mediaTokens === 0 ? { result } : { result: textOfParts(parts) ?? parts, mediaTokens };
}

/** Reads a part of a result as an image or file, in the form of Anthropic, OpenAI, MCP or Gemini; `undefined` if it is none. */
function mediaIn(part: unknown): MediaBlock | undefined {
  const fields = asRecord(part) ?? {};
  const type = asText(fields['type']) ?? '';
  const ofGemini = asRecord(fields['inlineData'] ?? fields['fileData']);
  const source = asRecord(fields['source']) ?? ofGemini ?? fields;
  const isMedia = /^(?:input_)?(?:image|document|file|audio|media)(?:[_-]url|-data)?$/.test(type);
  if ((!isMedia && source === fields) || source['type'] === 'text') return undefined;
  const mimeType = asText(source['media_type'] ?? source['mimeType'] ?? source['mediaType']);
  const addressed = type.endsWith('-url') ? fields['url'] : fields['image_url'];
  const image = asRecord(addressed)?.['url'] ?? addressed;
  const typeOfData = mimeType ?? (type.includes('image') ? 'image/*' : undefined);
  return mediaBlock(
    typeOfData ?? 'application/octet-stream',
    (typeOfData === undefined ? undefined : source['data']) ?? fields['file_data'],
    // Another list may hold objects with a type and an address.
    source === fields ? image : (source['url'] ?? source['fileUri']),
  );
}
