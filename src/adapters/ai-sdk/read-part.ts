// Converts a part of an AI SDK message to a block: plain data without bytes, URLs or media payloads. Parts of unknown kinds
// become opaque. Pure.

import { asText, isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { thinkingBlock, toolCall } from '../../shared/content.js';
import type { ContentBlock, OpaqueBlock } from '../../shared/content.js';
import { optionsReasoning, isOfGemini } from '../format/options-reasoning.js';
import { answerBlock, mediaBlock, opaqueBlock } from '../format/blocks.js';
import { estimateOpaqueTokens } from '../format/opaque-tokens.js';
import { fixedIf } from '../format/placed.js';
import { compactionBlock } from '../format/provider-compaction.js';
import type { ApprovedCalls, SdkMessage } from './sdk-message.js';
import { textIn } from './sdk-message.js';
import { mediaTypeOf, readToolOutput } from './tool-output.js';

/** The context of a part. */
export interface PartPlace {
  readonly role: SdkMessage['role'];
  /** For errors. */
  readonly where: string;
  readonly approved: ApprovedCalls;
}

/** Option fields that a provider needs back with reasoning, byte-identical. */
const SIGNATURES = ['signature', 'thoughtSignature', 'itemId'] as const;
const ENCRYPTED = ['redactedData', 'redactedContent', 'reasoningEncryptedContent'] as const;

/**
 * Returns the block for a part.
 *
 * @throws TypeError naming the part if a required field is missing
 */
export function readPart(part: unknown, place: PartPlace): ContentBlock {
  const { role, where } = place;
  if (!isRecord(part)) throw new TypeError(`Expected a part at ${where}, got ${typeof part}.`);
  switch (textIn(part, 'type', where)) {
    case 'text':
      return isAnthropicCompaction(part)
        ? compactionBlock(opaque(part), 'anthropic')
        : readText(part, where);
    case 'custom':
      return part['kind'] === 'openai.compaction'
        ? compactionBlock(opaque(part), 'openai')
        : opaque(part);
    case 'reasoning':
      return role === 'assistant' ? readReasoning(part, where) : opaque(part);
    case 'image':
    case 'file':
      return role === 'user' ? (readMedia(part) ?? opaque(part)) : opaque(part);
    case 'tool-call':
      return role === 'assistant' ? readCall(part, where) : opaque(part);
    case 'tool-result':
      return role === 'tool' ? readResult(part, where) : opaque(part, part['toolCallId']);
    case 'tool-approval-request':
      return opaque(part, part['toolCallId']);
    case 'tool-approval-response':
      return opaque(part, place.approved.get(part['approvalId']));
    default:
      return opaque(part);
  }
}

/** Whether a text part is Anthropic's automatic compaction: the SDK represents the summary as a text. */
function isAnthropicCompaction({ text, providerOptions }: JsonRecord): boolean {
  const anthropic = isRecord(providerOptions) ? providerOptions['anthropic'] : undefined;
  return isRecord(anthropic) && anthropic['type'] === 'compaction' && text !== '';
}

/** Reads a text. An empty one with provider options, which may be those of the part before it (Gemini's signature), becomes opaque. */
function readText(part: JsonRecord, where: string): ContentBlock {
  const text = textIn(part, 'text', where);
  return text === '' && part['providerOptions'] !== undefined
    ? opaque(part)
    : { type: 'text', text };
}

function readReasoning(part: JsonRecord, where: string): ContentBlock {
  return thinkingBlock(textIn(part, 'text', where), {
    signature: providerText(part, SIGNATURES),
    encryptedContent: providerText(part, ENCRYPTED),
  });
}

/** Whether a call has Gemini's signature. */
export function isSigned(part: JsonRecord): boolean {
  if (providerText(part, ['thoughtSignature']) !== undefined) return true;
  return optionsReasoning(part['providerOptions']).some(isOfGemini);
}

/** Returns the first of these fields that is a string, in the options of any provider. */
function providerText(part: JsonRecord, keys: readonly string[]): string | undefined {
  const { providerOptions } = part;
  if (!isRecord(providerOptions)) return undefined;
  for (const options of Object.values(providerOptions)) {
    if (!isRecord(options)) continue;
    for (const key of keys) {
      const text = options[key];
      if (typeof text === 'string') return text;
    }
  }
  return undefined;
}

/** Returns `undefined` for a file that is a text, which is opaque and counts as its text. */
function readMedia(part: JsonRecord): ContentBlock | undefined {
  const type = mediaTypeOf(part);
  return type === undefined ? undefined : mediaBlock(type, asText(part['filename']));
}

/** A call that the provider executes is opaque: it never gets a response in a tool message, so it would count as unanswered. */
function readCall(part: JsonRecord, where: string): ContentBlock {
  if (part['providerExecuted'] === true) return opaque(part);
  const id = textIn(part, 'toolCallId', where);
  const call = toolCall(id, textIn(part, 'toolName', where), part['input']);
  return { ...call, ...fixedIf(isSigned(part)) };
}

function readResult(part: JsonRecord, where: string): ContentBlock {
  const { output } = part;
  if (!isRecord(output)) {
    throw new TypeError(`Expected an object at ${where}.output, got ${typeof output}.`);
  }
  const callId = textIn(part, 'toolCallId', where);
  return answerBlock({ callId, toolName: textIn(part, 'toolName', where) }, readToolOutput(output));
}

/** Returns the block for a part that is not interpreted. */
export function opaque(part: JsonRecord, callId?: unknown): OpaqueBlock {
  const tokens = estimateOpaqueTokens(part['output'] ?? part, mediaTypeOf);
  return opaqueBlock(String(part['type']), tokens, asText(callId));
}
