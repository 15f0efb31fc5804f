// Finds images that an agent shows in a message of the user's, right behind the results of calls, because many APIs take no images in
// results. Such an image belongs to the last result in front of it. Knows no format.

import { IMAGE_TOKENS } from '../../shared/tokens/content-text.js';
import { opaqueBlock } from '../format/blocks.js';
import type { PlacedBlock, PlacedEntry } from '../format/message-format.js';
import { joinTexts } from '../format/placed.js';

/** A longer text beside an image is not written by a program for every image. */
const MAX_CAPTION_CHARACTERS = 200;
/** A text is a program's once it stood beside images behind so many results in a row, of one tool or of any. */
const IN_A_ROW = 3;
/** Stands for all tools. */
const ANY = '';

/**
 * The images of one conversation. Users, too, show images while tools run, or after they have stopped them, and an image that leaves
 * cannot be recalled: it must be clear that a program shows them.
 */
export class ShownImages {
  /** Texts beside images that programs show. Numbers do not count: they may be those of steps. */
  readonly #captions = new Set<string>();
  /** By tool, and for `ANY`, the text beside the images behind the last results, as long as there were some behind each. */
  readonly #rows = new Map<string, { readonly caption: string; readonly length: number }>();
  /** The tool of the last result, until images or the next answer follow. */
  #tool: string | undefined;

  /**
   * Returns an entry with its images bound to the last result among the entries before it, which then counts their tokens; the same entry
   * if its images may be the user's.
   *
   * @param before the entries before it; its last one may be replaced
   */
  bind(before: PlacedEntry[], entry: PlacedEntry): PlacedEntry {
    if (entry.speaker !== 'human') {
      this.#takeOther(entry);
      return entry;
    }
    const answers = before.at(-1);
    const result = answers?.blocks.at(-1);
    const images = entry.blocks.filter(isImage);
    const [first] = images;
    if (answers === undefined || first === undefined || result?.type !== 'tool_response')
      return entry;
    if (first.origin[0] > result.origin[0] + 1) return entry;
    const caption = joinTexts(entry.blocks).replace(/\d+/g, '0');
    // Users often show an image without a word.
    if (caption.trim() === '' || caption.length > MAX_CAPTION_CHARACTERS) return entry;
    if (!this.#isOfProgram(caption, result.toolName)) return entry;
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

  #takeOther({ speaker, blocks }: PlacedEntry): void {
    const result = blocks.at(-1);
    if (result?.type === 'tool_response') this.#tool = result.toolName;
    else if (speaker === 'ai' && this.#tool !== undefined) {
      for (const key of [this.#tool, ANY]) this.#rows.delete(key);
      this.#tool = undefined;
    }
  }

  /** Notes the text beside the images behind a result. Returns whether images with that text are a program's. */
  #isOfProgram(caption: string, tool: string): boolean {
    this.#tool = undefined;
    for (const key of [tool, ANY]) {
      const row = this.#rows.get(key);
      const length = row?.caption === caption ? row.length + 1 : 1;
      this.#rows.set(key, { caption, length });
      if (length >= IN_A_ROW) this.#captions.add(caption);
    }
    return this.#captions.has(caption);
  }
}

function isImage(block: PlacedBlock): boolean {
  return block.type === 'media' && /^image\//i.test(block.mimeType);
}
