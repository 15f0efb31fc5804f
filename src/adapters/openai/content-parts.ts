// Converts content, outputs and arguments of OpenAI's APIs to blocks, and applies edits to them. Knows the parts of Chat
// Completions, of the Responses API and of the Agents SDK, but no messages.

import type { ContentBlock, ToolResponseBlock } from '../../shared/content.js';
import { asFilledText, asRecord, asText, errorLine, parseArguments } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { answerBlock, mediaBlock, opaqueBlock, opaqueBlockOf } from '../format/blocks.js';
import type { Outcome } from '../format/blocks.js';
import { cacheMarksOf } from '../format/cache-marks.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';
import { tryPlainData } from '../format/plain-data.js';

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** Type of a media part → its media type. */
const MEDIA: ReadonlyMap<string, string> = new Map([
  ['image_url', 'image/*'],
  ['input_image', 'image/*'],
  ['image', 'image/*'],
  ['input_audio', 'audio/*'],
  ['audio', 'audio/*'],
  ['file', 'application/octet-stream'],
  ['input_file', 'application/octet-stream'],
]);

/**
 * Returns a block for each part of content. A text is one part. An empty list yields an opaque block, so that its message gets an
 * entry.
 *
 * @throws TypeError for a part that is not an object
 */
export function readContent(content: unknown, where: string): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    throw new TypeError(`Expected text or a list of parts as the content of ${where}.`);
  }
  if (content.length === 0) return [opaqueBlock('empty', 0)];
  return (content as readonly unknown[]).map((part, at) => readPart(part, `${where}, part ${at}`));
}

function readPart(value: unknown, where: string): ContentBlock {
  const part = asRecord(value);
  if (part === undefined) throw new TypeError(`Expected a content part, an object, at ${where}.`);
  const type = asText(part['type']) ?? 'unknown';
  const text = TEXTS.has(type) ? asText(part['text']) : undefined;
  if (text !== undefined) return { type: 'text', text };
  const mimeType = MEDIA.get(type);
  if (mimeType === undefined) return opaqueBlockOf(type, part);
  const file = asRecord(part['file']);
  const filename = asFilledText(part['filename']) ?? asFilledText(file?.['filename']);
  return mediaBlock(mimeType, filename, 'url');
}

/**
 * Reads the output of a function. The result is a text if all parts are texts, else a list with media by type only. An output that starts
 * like an error message counts as a failure: these APIs have no field for it. Taking a success for a failure costs a little density; the
 * reverse would lose a file.
 */
export function readFunctionOutput(output: unknown): Outcome {
  if (typeof output === 'string') return { result: output, error: failureIn(output) };
  const given: readonly unknown[] = Array.isArray(output) ? output : [output];
  const mediaTokens = mediaTokensIn(given, ({ type }) => MEDIA.get(String(type)));
  const parts = given.map(readOutputPart);
  if (!parts.every((part) => typeof part === 'string')) return { result: parts, mediaTokens };
  const text = parts.join('\n');
  return { result: text, error: failureIn(text), mediaTokens };
}

function readOutputPart(value: unknown): string | JsonRecord {
  const part = asRecord(value);
  const text = asText(value) ?? asText(part?.['text']);
  return text ?? { type: asText(part?.['type']) ?? 'unknown' };
}

function failureIn(text: string): string | undefined {
  return FAILURE.test(text) ? errorLine(text) : undefined;
}

const FAILURE =
  /^\W{0,8}(?:error|fail(?:ed|ure)|exception|traceback|an error occurred|could not|cannot|unable|no replacement)\b|^[\w ]{0,40}(?:error|exception|failed):|^exit code: [1-9]/i;

/**
 * Returns an output with `text` in the shape of the given one. Keeps the other fields of its first text part, and the cache marks of
 * all parts.
 *
 * @param textType type of a text part, for an output without one
 */
export function rewriteOutput(output: unknown, text: string, textType: string): unknown {
  if (!Array.isArray(output)) {
    const single = asRecord(output);
    if (single === undefined) return text;
    return typeof single['text'] === 'string' ? { ...single, text } : { type: 'text', text };
  }
  const parts = (output as readonly unknown[]).map((part) => asRecord(part) ?? {});
  const first = parts.find((part) => typeof part['text'] === 'string') ?? { type: textType };
  return [{ ...first, ...cacheMarksOf(parts), text }];
}

/** Id of a call → name of its tool, because answers do not contain the name. */
export class NamedCalls {
  readonly #names = new Map<string, string>();

  /** Adds the calls among the blocks of a message. */
  add(blocks: readonly ContentBlock[], isPinned: boolean): void {
    for (const block of blocks) {
      if (block.type !== 'tool_call') continue;
      if (isPinned) this.#names.delete(block.id);
      else this.#names.set(block.id, block.name);
    }
  }

  /** Returns the response block for an answer; `undefined` if the call is pinned or unknown: then the answer must be pinned, too. */
  answer(callId: string, outcome: Outcome): ToolResponseBlock | undefined {
    const toolName = this.#names.get(callId);
    return toolName === undefined ? undefined : answerBlock({ callId, toolName }, outcome);
  }
}

/** Parses the arguments of a call. Returns the text itself if it is not JSON, or exceeds the limits of a history. */
export function callArguments(recorded: unknown): unknown {
  const parsed = tryPlainData(parseArguments(recorded));
  return parsed === undefined ? recorded : parsed;
}
