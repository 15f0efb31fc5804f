// Summarizes a tool response in one line, which replaces its payload.

import { firstText, keyOfCall, PATH_KEYS } from '../call-name.js';
import { asRecord } from '../json.js';
import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { REMOVED_POINTER } from '../density.js';
import type { PlaceholderForm } from '../density.js';
import { countLines, shortened } from '../shown-text.js';
import type { SHOWN_THERE } from '../placeholder.js';
import {
  EXCERPT,
  isExcerptText,
  isPointer,
  MAX_SUMMARY_LENGTH,
  placeholderEnding,
  placeholderKind,
  shownToolName,
} from '../placeholder.js';
import { withResult } from '../content.js';
import { hasFailed } from '../outcome.js';
import { payloadCharacters } from '../tokens/estimate.js';
import { originalLength } from '../shrink/shown-before.js';
import type { CallOf } from './history-outline.js';

/** How large a result is. */
export interface ResultSize {
  readonly amount: number;
  readonly unit: 'line' | 'char';
}

/** What a summary line shows of a response: small, whatever the size of the payload. */
export type ResponseDigest =
  | {
      readonly isSummary: true;
      /** The result, which is a summary line already. */
      readonly line: string;
    }
  | {
      readonly isSummary: false;
      /** The tool's name on one line, at most 64 UTF-16 units. */
      readonly tool: string;
      readonly isFailed: boolean;
      /** `undefined` for primitive and pruned results. */
      readonly size: ResultSize | undefined;
      /** The key to show if there is no call. */
      readonly ownKey: string | undefined;
      /** The characters of the result; `undefined` if it is a pointer or has media, which are never kept. */
      readonly length: number | undefined;
    };

/** What a summary line shows of a call. */
export interface CallDigest {
  /** See `keyOfCall`. */
  readonly key: string | undefined;
}

/**
 * Returns `[<tool>: <key parameter> — <outcome>, <size>]`: one line without control characters, at most 200 UTF-16 units. The
 * key parameter is the call's path, else its command, else its first short string; without a call it is taken from the
 * result. Depending on `form`, the call's id is added at the end. A result that is such a line, of any form, is returned
 * unchanged.
 */
export function summarizeToolResponse(
  response: ToolResponseBlock,
  call: ToolCallBlock | undefined,
  form: PlaceholderForm = 'pointer',
): string {
  const ending = placeholderEnding(response.callId, form);
  return summaryLine(digestResponse(response), call && { key: keyOfCall(call) }, ending);
}

/**
 * Returns the line of `summarizeToolResponse` from digests of the response and its call.
 *
 * @param ending see `placeholderEnding`
 * @param unfailed what to say of a call that is not known to have failed
 */
export function summaryLine(
  digest: ResponseDigest,
  call: CallDigest | undefined,
  ending: string,
  unfailed: 'success' | typeof SHOWN_THERE = 'success',
): string {
  if (digest.isSummary) return digest.line;
  const { tool, isFailed, size, ownKey } = digest;
  const outcome = isFailed ? 'error' : unfailed;
  // Without a call, the size may already be the key.
  const end =
    call === undefined || size === undefined ? ` — ${outcome}` : ` — ${outcome}, ${sizeText(size)}`;
  const key = call === undefined ? ownKey : call.key;
  if (key === undefined) return `[${tool}${end}${ending}`;
  const room = MAX_SUMMARY_LENGTH - tool.length - end.length - '[: ]'.length;
  return `[${tool}: ${shortened(key, room)}${end}${ending}`;
}

/** Digests a response; reads its whole result. */
export function digestResponse(response: ToolResponseBlock): ResponseDigest {
  const { toolName, result, error, mediaTokens } = response;
  // `REMOVED_POINTER` stays as it is, because a summary line would state an outcome that is no longer known.
  const isLine =
    result === REMOVED_POINTER || (!isPointer(result) && placeholderKind(response) !== 'none');
  if (typeof result === 'string' && isLine) return { isSummary: true, line: result };
  const isExcerpt = typeof result === 'string' && isExcerptText(result);
  // An excerpt's own size says nothing about the original result.
  const size = isExcerpt ? undefined : sizeOf(result);
  return {
    isSummary: false,
    tool: shownToolName(toolName),
    // Few tools set an error when a command fails.
    isFailed: isExcerpt ? Boolean(error) || result.includes(EXCERPT.failed) : hasFailed(response),
    size,
    ownKey: keyOfResult(result, size),
    length: isPointer(result) || (mediaTokens ?? 0) > 0 ? undefined : payloadCharacters(result),
  };
}

function keyOfResult(result: unknown, size: ResultSize | undefined): string | undefined {
  if (typeof result === 'string') return size === undefined ? undefined : sizeText(size);
  const values = asRecord(result);
  if (values === undefined) return undefined;
  const path = firstText(values, PATH_KEYS);
  if (path !== undefined) return path;
  const { output } = values;
  return typeof output === 'string' ? sizeText({ amount: output.length, unit: 'char' }) : undefined;
}

function sizeText({ amount, unit }: ResultSize): string {
  if (unit === 'char') return `${amount} chars`;
  return amount === 1 ? '1 line' : `${amount} lines`;
}

function sizeOf(result: unknown): ResultSize | undefined {
  if (isPointer(result)) return undefined;
  if (typeof result === 'string') {
    const amount = originalLength(result);
    return amount === undefined
      ? { amount: countLines(result), unit: 'line' }
      : { amount, unit: 'char' };
  }
  if (typeof result !== 'object' || result === null) return undefined;
  const { output } = result as { readonly output?: unknown };
  if (typeof output === 'string') return sizeOf(output);
  return { amount: JSON.stringify(result).length, unit: 'char' };
}

/** Whether a line would be no shorter than the result that it stands for. */
export function isNoShorter(line: string, digest: ResponseDigest): boolean {
  return !digest.isSummary && digest.length !== undefined && line.length >= digest.length;
}

/**
 * Replaces each tool result of an entry by one line; returns the entry itself if nothing changes. Results of running tools
 * stay. `callOf` finds calls in the history in which the entry is at `index`.
 *
 * @param keepsShort whether results stay that are no longer than their line
 */
export function summarizeEntry(
  entry: IContent,
  index: number,
  callOf: CallOf,
  form: PlaceholderForm = 'pointer',
  keepsShort: boolean = false,
): IContent {
  if (entry.speaker !== 'tool') return entry;
  const blocks = entry.blocks.map((block, at) => {
    if (block.type !== 'tool_response' || block.isComplete === false) return block;
    const digest = digestResponse(block);
    const call = callOf(index, at);
    const ending = placeholderEnding(block.callId, form);
    const line = summaryLine(digest, call && { key: keyOfCall(call) }, ending);
    const isKept = line === block.result || (keepsShort && isNoShorter(line, digest));
    return isKept ? block : withResult(block, line);
  });
  return blocks.some((block, at) => block !== entry.blocks[at]) ? { ...entry, blocks } : entry;
}
