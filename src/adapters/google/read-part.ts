// Converts parts of Gemini contents to blocks, without payloads of media, and edited results back to responses. Parts of unknown
// kinds become opaque. The reader pairs calls and responses.

import type { FunctionResponse } from '@google/genai';
import { asArray, asRecord, asText, errorLine, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock, OpaqueBlock } from '../../shared/content.js';
import { payloadText } from '../../shared/tokens/content-text.js';
import { mediaBlock, opaqueBlock, opaqueBlockOf, outputField } from '../format/blocks.js';
import type { Outcome } from '../format/blocks.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';

/** Fields of a part that are not content. */
const MARKS: ReadonlySet<string> = new Set(['thought', 'thoughtSignature', 'partMetadata']);

/** An unchecked `Part`, without fields that are `undefined`. */
export type PartFields = JsonRecord;

export function readPart(part: PartFields): ContentBlock {
  const text = asText(part['text']);
  if (isEmptyPart(part)) return opaqueBlock('empty', 0);
  if (text !== undefined) {
    if (part['thought'] !== true) return { type: 'text', text };
    return thinkingBlock(text, { signature: asText(part['thoughtSignature']) });
  }
  return readMedia(part) ?? opaquePart(part);
}

/** Whether a part has no content. Such a part may carry the signature of a thought before it. */
export function isEmptyPart(part: PartFields): boolean {
  return contentOf(part).length === 0;
}

export function opaquePart(part: PartFields): OpaqueBlock {
  const content = contentOf(part);
  return opaqueBlockOf(content[0]?.[0] ?? 'empty', Object.fromEntries(content), mimeTypeIn);
}

function contentOf(part: PartFields): readonly (readonly [string, unknown])[] {
  return Object.entries(part).filter(
    ([key, value]) => !MARKS.has(key) && value !== null && value !== '',
  );
}

function readMedia(part: PartFields): ContentBlock | undefined {
  const inlineData = asRecord(part['inlineData']);
  const media = inlineData ?? asRecord(part['fileData']);
  if (media === undefined) return undefined;
  const encoding = inlineData === undefined ? 'url' : 'base64';
  return mediaBlock(mimeTypeOf(media), asText(media['displayName']), encoding);
}

function mimeTypeOf(media: JsonRecord): string {
  return asText(media['mimeType']) ?? 'application/octet-stream';
}

/** A plain response object: the SDK declares a class, but sends and accepts objects. */
type FunctionResponseFields = Pick<FunctionResponse, keyof FunctionResponse>;

/** An unchecked response. */
type GivenResponse = Readonly<Partial<Record<keyof FunctionResponse, unknown>>>;

/**
 * Reads a response, with the estimated tokens of its media. Unwraps `{ output }`, `{ error }`, and a text that is the only field, such
 * as the `{ result }` that SDKs write for functions; any other response is the result as a whole. The call has failed if `error` is not
 * empty, or if `isError` is set, as by MCP tools.
 */
export function readOutcome({ response, parts }: GivenResponse): Outcome {
  const mediaTokens = mediaTokensIn(asArray(parts), mimeTypeIn);
  if (!isRecord(response)) return { result: '', mediaTokens };
  const { error } = response;
  const hasFailed = isFailure(error);
  if (!hasFailed && response['isError'] !== true) {
    const field = outputField(response);
    return { result: field === undefined ? response : response[field], mediaTokens };
  }
  return {
    result: hasFailed && Object.keys(response).length === 1 ? error : response,
    error: errorLine(payloadText(hasFailed ? error : response)),
    mediaTokens,
  };
}

/**
 * Returns, by the place of an image or file, the place of the response that it belongs to: media behind a response, where the user's
 * content has nothing else. Gemini CLI and others send what a tool has shown so.
 */
export function mediaOfResponses(parts: readonly unknown[]): ReadonlyMap<number, number> {
  const owners = new Map<number, number>();
  let owner: number | undefined;
  for (const [at, given] of parts.entries()) {
    const part = asRecord(given) ?? {};
    if (asRecord(part['functionResponse']) !== undefined) owner = at;
    else if (owner !== undefined && mimeTypeIn(part) !== undefined) owners.set(at, owner);
    else return new Map();
  }
  return owners;
}

/** Returns the media type of an object with media; else `undefined`. */
export function mimeTypeIn({ inlineData, fileData }: JsonRecord): string | undefined {
  const media = asRecord(inlineData ?? fileData);
  return media && mimeTypeOf(media);
}

/** What Gemini's computer tool wants to know with each screenshot: the address of the page, and whether the user allowed the action. */
const WITH_SCREENSHOT: ReadonlySet<string> = new Set(['url', 'safety_acknowledgement']);

/**
 * Replaces the output and media of a response by a text. For a failure the text stays in `error`, so that the model reads it as one.
 */
export function withOutput(given: FunctionResponseFields, text: string): FunctionResponseFields {
  const { error } = readOutcome(given);
  const { parts, response = {}, ...others } = given;
  const kept = Object.entries(response).filter(([name]) => WITH_SCREENSHOT.has(name));
  const isOfComputer = asArray(parts).length > 0 && kept.length > 0;
  const output = isOfComputer ? 'output' : (outputField(response) ?? 'output');
  const field = error === undefined ? output : 'error';
  return { ...others, response: { ...(isOfComputer && Object.fromEntries(kept)), [field]: text } };
}

function isFailure(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}
