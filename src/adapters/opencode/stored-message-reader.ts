// Reads OpenCode's messages of one conversation as entries. A tool part becomes two blocks, a call and a response. A message with
// several steps of the model becomes two entries per step, an answer and its results.

import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import { thinkingBlock, toolCall } from '../../shared/content.js';
import { asRecord, asText, errorLine } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { CallPairing } from '../format/call-pairing.js';
import { answerBlock, mediaBlock, opaqueBlockOf } from '../format/blocks.js';
import {
  optionsReasoningBlock,
  optionsReasoning,
  isOfGemini,
} from '../format/options-reasoning.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';
import { fixedIf, groupOfCalls, placed } from '../format/placed.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { plainData } from '../format/plain-data.js';
import { isSentByAssistant, isSentByUser, isUnsentAnswer, outcomeOf } from './stored-message.js';
import type { OpenCodeMessage } from './stored-message.js';

/** Part numbers in origins: `callPart` for a part itself, `resultPart` for the result in a tool part. */
export const callPart = (at: number): number => 2 * at;
export const resultPart = (at: number): number => 2 * at + 1;
/** Part number in origins for the carried reasoning in a tool part. */
export const optionsReasoningPart = (at: number): number => -1 - at;

export class StoredMessageReader implements MessageReader<OpenCodeMessage> {
  readonly #pairing = new CallPairing();

  /** Adds no pinned tokens: the only pinned messages are those that OpenCode sends to no model. */
  read(given: OpenCodeMessage, index: number, { entries }: Reading): void {
    const { info, parts } = readMessage(given, index);
    const isUser = info['role'] === 'user';
    if (!isUser && isUnsentAnswer(info, parts)) return;
    const metadata = metadataOf(info);
    const read = isUser ? [readUser(parts, index)] : this.#readAnswer(parts, index);
    for (const { speaker, blocks } of read) {
      if (blocks.length > 0) entries.push({ speaker, blocks, metadata });
    }
  }

  #readAnswer(parts: readonly JsonRecord[], index: number): readonly PlacedEntry[] {
    const entries: PlacedEntry[] = [];
    for (const [number, step] of stepsOf(parts).entries()) {
      this.#pairing.beginStep();
      const answer: PlacedBlock[] = [];
      const results: PlacedBlock[] = [];
      const tools = step.filter(({ part }) => part['type'] === 'tool');
      const group = groupOfCalls(
        tools.map(({ part }) => isSigned(part) || optionsReasoning(part['metadata']).length > 0),
        `${index}.${number}`,
      );
      for (const { part, at } of step) {
        if (part['type'] !== 'tool' || isProviderExecuted(part)) {
          answer.push(placed(readPart(part), index, callPart(at)));
          continue;
        }
        const isInParts = step.some(({ part: { type } }) => type === 'reasoning');
        const reasoning = optionsReasoningBlock(optionsReasoning(part['metadata']), isInParts);
        if (reasoning !== undefined)
          answer.push(placed(reasoning, index, optionsReasoningPart(at)));
        const name = asText(part['tool']) ?? '';
        const use = { id: asText(part['callID']), name };
        const id = this.#pairing.call(use, [index, callPart(at)]);
        const call = toolCall(id, name, asRecord(part['state'])?.['input'] ?? {});
        const block = { ...call, ...group, ...fixedIf(isSigned(part)) };
        answer.push(placed(block, index, callPart(at)));
        this.#pairing.answer(use, [index, resultPart(at)], true);
        results.push(placed(readResult(part, id, name), index, resultPart(at)));
      }
      entries.push({ speaker: 'ai', blocks: answer }, { speaker: 'tool', blocks: results });
    }
    return entries;
  }
}

/** A part and its index in the message. */
interface PartAt {
  readonly part: JsonRecord;
  readonly at: number;
}

/** Returns the parts that are sent to models, by step. */
function stepsOf(parts: readonly JsonRecord[]): readonly (readonly PartAt[])[] {
  const steps: PartAt[][] = [[]];
  for (const [at, part] of parts.entries()) {
    if (part['type'] === 'step-start') steps.push([]);
    else if (isSentByAssistant(part)) steps.at(-1)?.push({ part, at });
  }
  return steps;
}

function readUser(parts: readonly JsonRecord[], index: number): PlacedEntry {
  const blocks = parts.flatMap((part, at) =>
    isSentByUser(part) ? [placed(readPart(part), index, callPart(at))] : [],
  );
  return { speaker: 'human', blocks };
}

function readPart(part: JsonRecord): ContentBlock {
  const text = asText(part['text']) ?? '';
  switch (part['type']) {
    case 'text':
      return { type: 'text', text };
    case 'reasoning':
      return thinkingBlock(text, { signature: signatureOf(part) });
    case 'file': {
      const mimeType = asText(part['mime']) ?? 'application/octet-stream';
      return mediaBlock(mimeType, asText(part['filename']), 'url');
    }
    default:
      return opaqueBlockOf(asText(part['type']) ?? 'unknown', part);
  }
}

/** Returns that by which the provider recognizes reasoning: Anthropic's signature or OpenAI's item id. */
function signatureOf({ metadata }: JsonRecord): string | undefined {
  const { anthropic, openai } = asRecord(metadata) ?? {};
  return asText(asRecord(anthropic)?.['signature']) ?? asText(asRecord(openai)?.['itemId']);
}

function readResult(part: JsonRecord, callId: string, toolName: string): ContentBlock {
  const { text, isError, attachments } = outcomeOf(part);
  const mediaTokens = mediaTokensIn(attachments, ({ mime }) => asText(mime) ?? '');
  const error = isError ? errorLine(text) : undefined;
  return answerBlock({ callId, toolName }, { result: text, error, mediaTokens });
}

/** Whether a tool part has Gemini's signature. */
function isSigned({ metadata }: JsonRecord): boolean {
  const google = asRecord(asRecord(metadata)?.['google']);
  return google?.['thoughtSignature'] !== undefined || optionsReasoning(metadata).some(isOfGemini);
}

/** Whether the provider ran the tool. Such a part is not split, because its result stays in it. */
function isProviderExecuted({ metadata }: JsonRecord): boolean {
  return asRecord(metadata)?.['providerExecuted'] === true;
}

function metadataOf(info: JsonRecord): ContentMetadata {
  const created = asRecord(info['time'])?.['created'];
  return {
    ...(typeof created === 'number' && Number.isFinite(created) && { timestamp: created }),
    ...(info['summary'] === true && { isSummary: true }),
  };
}

function readMessage(
  given: unknown,
  index: number,
): { readonly info: JsonRecord; readonly parts: readonly JsonRecord[] } {
  const where = `message ${index}`;
  const message = asRecord(plainData(given, where));
  const info = asRecord(message?.['info']);
  const parts = message?.['parts'];
  const role = asText(info?.['role']);
  if (info === undefined || role === undefined || !Array.isArray(parts)) {
    throw new TypeError(`Expected a message { info, parts } at ${where}.`);
  }
  return { info, parts: parts.map((part: unknown) => asRecord(part) ?? {}) };
}
