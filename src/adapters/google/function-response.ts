// What the response of a function means: its output or its error, and how an edited one is written back.

import type { FunctionResponse } from '@google/genai';
import type { ToolResponseBlock } from '../../shared/content.js';
import { isRecord } from '../../shared/json.js';
import { payloadTokens } from '../../shared/tokens/content-text.js';
import { failureLine } from '../placed.js';

/** A response as plain data: the SDK declares a class, and sends and gives objects. */
export type FunctionResponseFields = Pick<FunctionResponse, keyof FunctionResponse>;

/** A response as it comes: anything in it may be missing, null or of another type. */
export type GivenResponse = Readonly<Partial<Record<keyof FunctionResponse, unknown>>>;

/** What a response says, as a block says it. */
export type Outcome = Pick<ToolResponseBlock, 'result' | 'error'>;

const DEFAULT_MIME_TYPE = 'application/octet-stream';

/**
 * Reads a response: `{ output }` and `{ error }` are unwrapped, anything else is the output as a whole.
 * An `error` that says something is a failure, and so is the `isError` of a tool that speaks MCP.
 */
export function readOutcome({ response }: GivenResponse): Outcome {
  if (!isRecord(response)) return { result: '' };
  const { error, output } = response;
  const isAlone = Object.keys(response).length === 1;
  const hasFailed = isFailure(error);
  if (!hasFailed && response['isError'] !== true) {
    return { result: isAlone && output !== undefined ? output : response };
  }
  const said = hasFailed ? error : response;
  return { result: hasFailed && isAlone ? error : response, error: errorLine(said) };
}

/** About how many tokens the media of a response take, which stand beside what it says. */
export function mediaTokensOf({ parts }: GivenResponse): number {
  if (!Array.isArray(parts)) return 0;
  return (parts as readonly unknown[]).reduce<number>((sum, part) => sum + partTokens(part), 0);
}

function partTokens(part: unknown): number {
  if (!isRecord(part)) return 0;
  const media = part['inlineData'] ?? part['fileData'];
  if (!isRecord(media)) return 0;
  const { mimeType } = media;
  return payloadTokens(typeof mimeType === 'string' ? mimeType : DEFAULT_MIME_TYPE);
}

/**
 * Returns the response with a text in the place of what it said, media included. A failure stays one: the model reads
 * `error` as one, and any other key as output.
 */
export function withOutput(given: FunctionResponseFields, text: string): FunctionResponseFields {
  const { error } = readOutcome(given);
  const { parts: _media, ...others } = given;
  return { ...others, response: error === undefined ? { output: text } : { error: text } };
}

function isFailure(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}

function errorLine(said: unknown): string {
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  return failureLine(text) ?? 'The function failed.';
}
