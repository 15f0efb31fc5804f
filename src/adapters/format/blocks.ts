// Makes the blocks that the readers of all formats have in common. Payloads of media are left out: no decision needs them.

import { toolResponse } from '../../shared/content.js';
import type { MediaBlock, OpaqueBlock, ToolResponseBlock } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { estimateOpaqueTokens } from './opaque-tokens.js';
import type { MimeTypeOf } from './opaque-tokens.js';

/** Whether the role of a message is `system` or `developer`. */
export function isInstruction(message: unknown): boolean {
  try {
    const role = asRecord(message)?.['role'];
    return role === 'system' || role === 'developer';
  } catch {
    // The message is invalid. The reader rejects it.
    return false;
  }
}

/** The call that a response answers, as the fields of the response's block. */
export type AnsweredTool = Pick<ToolResponseBlock, 'callId' | 'toolName'>;

/** What a tool answered. */
export interface Outcome {
  readonly result: unknown;
  readonly error?: string | undefined;
  /** Assumed tokens of media in the result. Absent means 0. */
  readonly mediaTokens?: number;
}

export function answerBlock(
  { callId, toolName }: AnsweredTool,
  { result, error, mediaTokens = 0 }: Outcome,
): ToolResponseBlock {
  const block = toolResponse(callId, toolName, result, error);
  return mediaTokens > 0 ? { ...block, mediaTokens } : block;
}

/** Returns the name of the only field of a tool's answer, if that field is the output: a text, or any value under `output`. */
export function outputField(fields: JsonRecord): string | undefined {
  const [field, ...others] = Object.keys(fields);
  if (field === undefined || others.length > 0 || fields[field] === undefined) return undefined;
  return field === 'output' || typeof fields[field] === 'string' ? field : undefined;
}

export function mediaBlock(
  mimeType: string,
  filename?: string,
  encoding: MediaBlock['encoding'] = 'base64',
): MediaBlock {
  const block = { type: 'media', mimeType, data: '', encoding } as const;
  return filename === undefined ? block : { ...block, filename };
}

export function opaqueBlock(kind: string, tokens: number, callId?: string): OpaqueBlock {
  const block = { type: 'opaque', kind, tokens } as const;
  return callId === undefined ? block : { ...block, callId };
}

/** Returns the block of a value that is not interpreted. */
export function opaqueBlockOf(kind: string, value: unknown, mimeTypeOf?: MimeTypeOf): OpaqueBlock {
  return opaqueBlock(kind, estimateOpaqueTokens(value, mimeTypeOf));
}
