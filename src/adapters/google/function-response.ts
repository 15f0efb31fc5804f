// What the response of a function means: its output or its error, and how an edited one is written back.

import type { FunctionResponse } from '@google/genai';
import type { ToolResponseBlock } from '../../shared/content.js';

/** A response as plain data: the SDK declares a class, and sends and gives objects. */
export type FunctionResponseFields = Pick<FunctionResponse, keyof FunctionResponse>;

/** What a response says, as a block says it. */
export type Outcome = Pick<ToolResponseBlock, 'result' | 'error'>;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads a response: `{ output }` and `{ error }` are unwrapped, anything else is the output as a whole.
 * An `error` that says something is a failure, and so is the `isError` of a tool that speaks MCP.
 */
export function readOutcome({ response }: FunctionResponseFields): Outcome {
  if (!isFields(response)) return { result: '' };
  const { error, output } = response;
  const isAlone = Object.keys(response).length === 1;
  const hasFailed = isFailure(error);
  if (!hasFailed && response['isError'] !== true) {
    return { result: isAlone && output !== undefined ? output : response };
  }
  const said = hasFailed ? error : response;
  return { result: hasFailed && isAlone ? error : response, error: errorLine(said) };
}

/**
 * Returns the response with a text in the place of what it said. A failure stays one: the model reads
 * `error` as one, and any other key as output.
 */
export function withOutput(given: FunctionResponseFields, text: string): FunctionResponseFields {
  const { error } = readOutcome(given);
  return { ...given, response: error === undefined ? { output: text } : { error: text } };
}

function isFailure(error: unknown): boolean {
  return error !== undefined && error !== null && error !== false && error !== '';
}

/** The first line of what went wrong, at most 200 characters of it; the result has all. */
function errorLine(said: unknown): string {
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  // With the `u` flag no pair of surrogates is cut.
  return /\S[^\r\n]{0,199}/u.exec(text)?.[0] ?? 'The function failed.';
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
