// Converts the AI SDK's `output` of a tool result to the result of a response, and applies an edited result. Pure.

import { asArray, asRecord, asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { outputField } from '../format/blocks.js';
import type { Outcome } from '../format/blocks.js';
import { SCREENSHOT, withoutPicture } from '../format/screenshot.js';
import { payloadText, payloadTokens } from '../../shared/tokens/content-text.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';

const FAILED = 'The tool failed.';
const DENIED = 'Tool execution denied.';

/**
 * Reads an output. Texts and values of unknown types are the result unchanged; so is JSON, but for a computer's screenshot, which gets
 * a stand-in, and an object whose only field is the text of the answer, which is then the result. Of content, the result has the texts
 * and a stand-in for each other item. Errors and denials by the user set `error`.
 */
export function readToolOutput(output: JsonRecord): Outcome {
  const { type, value } = output;
  switch (type) {
    case 'error-text':
    case 'error-json':
      return { result: value ?? '', error: FAILED };
    case 'execution-denied': {
      const { reason } = output;
      return { result: typeof reason === 'string' ? reason : DENIED, error: DENIED };
    }
    case 'content':
      return { result: readContent(value), mediaTokens: contentMediaTokens(value) };
    case 'json': {
      const fields = asRecord(value) ?? {};
      if (screenshotIn(fields) !== undefined) return SCREENSHOT;
      // As a result, a list of texts would be content that a text cannot replace.
      const isTexts = Array.isArray(value) && value.every((item) => typeof item === 'string');
      return {
        result: fields[textField(fields)] ?? (isTexts ? JSON.stringify(value) : value) ?? '',
      };
    }
    default:
      return { result: value ?? '' };
  }
}

/**
 * Returns the output with another result, as text. Errors become `error-text`, denials keep their type, and JSON of a shape that the
 * provider requires keeps that shape. Provider options are unchanged. An output that loads tools by reference stays as it is, because
 * the model would lose these tools.
 */
export function rewriteToolOutput(
  output: JsonRecord,
  result: unknown,
  toolName: unknown,
): JsonRecord {
  if (asArray(output['value']).some(isToolReference)) return output;
  const value = payloadText(result);
  switch (output['type']) {
    case 'json': {
      const fields = asRecord(output['value']) ?? {};
      const shaped = inShape(fields, value, toolName);
      if (shaped !== undefined) return { ...output, value: shaped };
      const field = textField(fields);
      return field === ''
        ? { ...output, type: 'text', value }
        : { ...output, value: { [field]: value } };
    }
    case 'execution-denied':
      return { ...output, reason: value };
    case 'error-text':
    case 'error-json':
      return { ...output, type: 'error-text', value };
    default:
      return { ...output, type: 'text', value };
  }
}

/** Returns the name of the only field, if that field has the text of the tool's answer; else an empty string. */
function textField(fields: JsonRecord): string {
  const field = outputField(fields) ?? '';
  return typeof fields[field] === 'string' && field !== 'error' ? field : '';
}

function screenshotIn({ output }: JsonRecord): JsonRecord | undefined {
  const shown = asRecord(output);
  return shown?.['type'] === 'computer_screenshot' ? shown : undefined;
}

/**
 * Returns a text in the shape that OpenAI's own tools require; `undefined` for any other tool. The SDK would send output of another
 * shape as a function's output, which OpenAI rejects.
 */
function inShape(value: JsonRecord, text: string, toolName: unknown): JsonRecord | undefined {
  const { output } = value;
  const shown = screenshotIn(value);
  if (shown !== undefined) return { ...value, output: withoutPicture(shown) };
  const last = asRecord(asArray(output).at(-1));
  if (last?.['outcome'] !== undefined && typeof last['stdout'] === 'string') {
    return { ...value, output: [{ ...last, stdout: text, stderr: '' }] };
  }
  const isNamed = toolName === 'local_shell' || toolName === 'apply_patch';
  if (isNamed && typeof output === 'string') return { ...value, output: text };
  return toolName === 'apply_patch' && typeof value['status'] === 'string' ? value : undefined;
}

function isToolReference(item: unknown): boolean {
  const options = asRecord(asRecord(item)?.['providerOptions']);
  return asRecord(options?.['anthropic'])?.['type'] === 'tool-reference';
}

/** Returns the joined texts, or a list if there are provider-specific items, which a text cannot replace. */
function readContent(value: unknown): string | readonly string[] {
  if (!Array.isArray(value)) return payloadText(value);
  const items = value as readonly unknown[];
  const texts = items.map(itemText);
  return items.every(isTextOrMedia) ? texts.join('\n') : texts;
}

function isTextOrMedia(item: unknown): boolean {
  const { type, text } = asRecord(item) ?? {};
  return typeof text === 'string' || typeof type !== 'string' || MEDIA_ITEM.test(type);
}

/** Returns an item's text, or its type without the payload, which may be megabytes. */
function itemText(item: unknown): string {
  if (!isRecord(item)) return '';
  const { type, text, mediaType, filename } = item;
  if (typeof text === 'string') return text;
  const names = [mediaType ?? type, filename].filter((name) => typeof name === 'string');
  return `[${names.join(' ')}]`;
}

function contentMediaTokens(value: unknown): number {
  return asArray(value).reduce<number>((sum, item) => sum + itemTokens(item), 0);
}

/** Tokens of a media item. A file that is a text counts as its text. */
function itemTokens(item: unknown): number {
  const fields = asRecord(item) ?? {};
  const type = mediaTypeOf(fields);
  const text = type === undefined ? asText(asRecord(fields['data'])?.['text']) : undefined;
  return type === undefined ? estimatePayloadTokens(text) : payloadTokens(type);
}

/** Returns the media type of a part or of an item of a result; `undefined` if it is not media, or a text. */
export function mediaTypeOf({ type, text, mediaType, data }: JsonRecord): string | undefined {
  const named = asText(mediaType) ?? asText(type) ?? '';
  const isText = typeof text === 'string' || typeof asRecord(data)?.['text'] === 'string';
  if (isText || (mediaType === undefined && !MEDIA_ITEM.test(named))) return undefined;
  // The media type may lack a subtype (`image`), or only the item's type is known (`image-url`).
  return named.includes('/') ? named : `${named.replace(/-.*/, '')}/*`;
}

/** Matches `media`, `file` and `image`, alone or with a suffix: `file-data`, `image-url`, `image-file-id`. */
const MEDIA_ITEM = /^(?:media|file|image)(?:-|$)/;
