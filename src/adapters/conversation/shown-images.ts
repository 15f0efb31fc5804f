// Finds images that an agent shows in a message of the user's, right behind the results of calls, because many APIs take no images in
// results. Such an image belongs to the last result in front of it. Knows no format.

import { IMAGE_TOKENS } from '../../shared/tokens/content-text.js';
import { opaqueBlock } from '../format/blocks.js';
import type { PlacedBlock, PlacedEntry } from '../format/message-format.js';
import { joinTexts } from '../format/placed.js';

/** A longer text beside an image is not written by a program for every image. */
const MAX_CAPTION_CHARACTERS = 200;

/** The images of one conversation. */
export class ShownImages {
  /** Texts beside images behind results. Numbers do not count: they may be those of steps. */
  readonly #captions = new Set<string>();

  /**
   * Returns an entry with its images bound to the last result among the entries before it, which then counts their tokens. Users, too,
   * show images while tools run, or after they have stopped them: only an image with the text of an earlier one is the agent's.
   *
   * @param before the entries before it; its last one may be replaced
   */
  bind(before: PlacedEntry[], entry: PlacedEntry): PlacedEntry {
    const answers = before.at(-1);
    const result = answers?.blocks.at(-1);
    if (entry.speaker !== 'human' || answers === undefined) return entry;
    const images = entry.blocks.filter(isImage);
    const [first] = images;
    if (first === undefined || result?.type !== 'tool_response') return entry;
    if (first.origin[0] > result.origin[0] + 1) return entry;
    const caption = joinTexts(entry.blocks).replace(/\d+/g, '0');
    if (caption.length > MAX_CAPTION_CHARACTERS) return entry;
    if (!this.#captions.has(caption)) {
      this.#captions.add(caption);
      return entry;
    }
    const mediaTokens = (result.mediaTokens ?? 0) + images.length * IMAGE_TOKENS;
    const blocks = [...answers.blocks.slice(0, -1), { ...result, mediaTokens }];
    before[before.length - 1] = { ...answers, blocks };
    const { callId } = result;
    return {
      ...entry,
      blocks: entry.blocks.map((block) =>
        isImage(block)
          ? { ...opaqueBlock('image', 0, callId), origin: block.origin, isShown: true }
          : block,
      ),
    };
  }
}

function isImage(block: PlacedBlock): boolean {
  return block.type === 'media' && /^image\//i.test(block.mimeType);
}
