// Blocks for images and files.

import type { MediaBlock } from '../../shared/content.js';

/** Returns a block with base64 data, else with a URL, which may be a data URL; `undefined` if there is neither. */
export function mediaBlock(mimeType: string, data: unknown, url?: unknown): MediaBlock | undefined {
  if (typeof data === 'string') return { type: 'media', mimeType, data, encoding: 'base64' };
  if (typeof url !== 'string') return undefined;
  const [prefix, type = mimeType] = /^data:([^;,]*);base64,/.exec(url) ?? [];
  if (prefix === undefined) return { type: 'media', mimeType, data: url, encoding: 'url' };
  return { type: 'media', mimeType: type, data: url.slice(prefix.length), encoding: 'base64' };
}
