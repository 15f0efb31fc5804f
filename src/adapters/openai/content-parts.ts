// Content as OpenAI's APIs have it, text or a list of parts, read as blocks and written back. Knows
// the parts of chats, of Responses and of agents, and no messages.

import type { ContentBlock } from '../../shared/content.js';
import { asFilledText, asRecord, asText, errorLine } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import type { PartEdits } from '../message-format.js';
import { payloadTokens } from '../../shared/tokens/content-text.js';
import { isCacheMark } from '../cache-marks.js';
import { carriedTokens } from './carried-tokens.js';

const TEXTS: ReadonlySet<string> = new Set(['text', 'input_text', 'output_text']);

/** Kinds of parts that are media, and the media type of those that do not tell theirs. */
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
 * The blocks of content, one for each of its parts in their order. Text is one part, and a list
 * without parts has an opaque one, so that its message stands in an entry.
 *
 * @throws TypeError for a part that is no object
 */
export function readContent(content: unknown, where: string): readonly ContentBlock[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  if (!Array.isArray(content)) {
    throw new TypeError(`Expected text or a list of parts as the content of ${where}.`);
  }
  if (content.length === 0) return [{ type: 'opaque', kind: 'empty', tokens: 0 }];
  return (content as readonly unknown[]).map((part, at) => readPart(part, `${where}, part ${at}`));
}

/** Makes the block of a part that was not looked into. */
export function opaqueBlock(kind: string, value: unknown): ContentBlock {
  return { type: 'opaque', kind, tokens: carriedTokens(value) };
}

function readPart(value: unknown, where: string): ContentBlock {
  const part = asRecord(value);
  if (part === undefined) throw new TypeError(`Expected a content part, an object, at ${where}.`);
  const type = asText(part['type']) ?? 'unknown';
  const text = TEXTS.has(type) ? asText(part['text']) : undefined;
  if (text !== undefined) return { type: 'text', text };
  const mimeType = MEDIA.get(type);
  if (mimeType === undefined) return opaqueBlock(type, part);
  const file = asRecord(part['file']);
  const filename = asFilledText(part['filename']) ?? asFilledText(file?.['filename']);
  // The payload stays in the message: nobody needs it to decide what goes.
  return {
    type: 'media',
    mimeType,
    data: '',
    encoding: 'url',
    ...(filename !== undefined && { filename }),
  };
}

/**
 * Returns content with some of its parts edited; `undefined` when nothing of it is left. Parts
 * without an edit are the same objects, and content without one is.
 *
 * @param firstPart the number of its first part
 */
export function rewriteContent(content: unknown, edits: PartEdits, firstPart: number = 0): unknown {
  if (!Array.isArray(content)) {
    const edit = edits.get(firstPart);
    if (edit === undefined) return content;
    return edit?.type === 'text' ? edit.text : undefined;
  }
  const given = content as readonly unknown[];
  if (!given.some((_, at) => edits.has(firstPart + at))) return given;
  const parts = given.flatMap((part, at) => {
    const edit = edits.get(firstPart + at);
    if (edit === undefined) return [part];
    return edit?.type === 'text' ? [{ ...asRecord(part), text: edit.text }] : [];
  });
  return parts.length === 0 ? undefined : parts;
}

/**
 * What a tool returned, as the result of a response: text where there is nothing else, and else a list
 * in which a medium is named and not held.
 */
export function readOutput(output: unknown): unknown {
  if (typeof output === 'string') return output;
  const parts = (Array.isArray(output) ? (output as readonly unknown[]) : [output]).map(readPiece);
  return parts.every((part) => typeof part === 'string') ? parts.join('\n') : parts;
}

/** About how many tokens the media in what a tool returned take. */
export function outputMediaTokens(output: unknown): number {
  if (typeof output === 'string') return 0;
  const parts = Array.isArray(output) ? (output as readonly unknown[]) : [output];
  return parts.reduce<number>((sum, part) => {
    const mimeType = MEDIA.get(asText(asRecord(part)?.['type']) ?? '');
    return mimeType === undefined ? sum : sum + payloadTokens(mimeType);
  }, 0);
}

function readPiece(value: unknown): string | JsonRecord {
  const part = asRecord(value);
  const text = asText(value) ?? asText(part?.['text']);
  return text ?? { type: asText(part?.['type']) ?? 'unknown' };
}

/**
 * Tells why a tool failed, where its output begins by saying that it did: these APIs have no field for
 * it. A success that is taken for a failure costs a little density; the reverse would lose a file.
 */
export function readFailure(output: unknown): string | undefined {
  if (typeof output !== 'string' || !FAILURE.test(output)) return undefined;
  return errorLine(output);
}

const FAILURE =
  /^\W{0,8}(?:error|fail(?:ed|ure)|exception|traceback|an error occurred|could not|cannot|unable|no replacement)\b|^[\w ]{0,40}(?:error|exception|failed):|^exit code: [1-9]/i;

/**
 * Returns the output that says `text` in the place of another one: in the shape of the former, with what
 * its first text and the marks of its parts carried besides.
 *
 * @param textType the type of a text part, for output that has none
 */
export function rewriteOutput(output: unknown, text: string, textType: string): unknown {
  if (!Array.isArray(output)) {
    const single = asRecord(output);
    if (single === undefined) return text;
    return typeof single['text'] === 'string' ? { ...single, text } : { type: 'text', text };
  }
  const parts = (output as readonly unknown[]).map((part) => asRecord(part) ?? {});
  const first = parts.find((part) => typeof part['text'] === 'string') ?? { type: textType };
  const marks = parts.flatMap((part) =>
    Object.entries(part).filter(([key, value]) => value !== undefined && isCacheMark(key, value)),
  );
  return [{ ...first, ...Object.fromEntries(marks), text }];
}
