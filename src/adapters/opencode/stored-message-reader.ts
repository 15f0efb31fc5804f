// Reads OpenCode's messages of one conversation as entries. A part of a tool is two blocks, a call and a response; a message
// that holds several steps of the model becomes an answer and its results for each of them.

import type { ContentBlock, ContentMetadata } from '../../shared/content.js';
import { asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { payloadTokens } from '../../shared/tokens/content-text.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { CallPairing } from '../call-pairing.js';
import { failureLine, placed } from '../placed.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../message-format.js';
import { plainData } from '../plain-data.js';
import { isSentByAssistant, isSentByUser, isUnsentAnswer, outcomeOf } from './stored-message.js';
import type { OpenCodeMessage } from './stored-message.js';

/** The number of the part that a block stands for, and of the result in a part of a tool. */
export const callPart = (at: number): number => 2 * at;
export const resultPart = (at: number): number => 2 * at + 1;

/** Reads messages, and gives each call an id of its own. */
export class StoredMessageReader implements MessageReader<OpenCodeMessage> {
  readonly #pairing = new CallPairing();

  read(messages: readonly OpenCodeMessage[], firstIndex: number): Reading {
    const entries: PlacedEntry[] = [];
    for (const [at, given] of messages.entries()) {
      const { info, parts } = readMessage(given, firstIndex + at);
      const isUser = info['role'] === 'user';
      if (!isUser && isUnsentAnswer(info, parts)) continue;
      const metadata = metadataOf(info);
      const read = isUser
        ? [readUser(parts, firstIndex + at)]
        : this.#readAnswer(parts, firstIndex + at);
      for (const { speaker, blocks } of read) {
        if (blocks.length > 0) entries.push({ speaker, blocks, metadata });
      }
    }
    // What OpenCode sends to no model is pinned, and takes nothing.
    return { entries, pinnedTokens: 0 };
  }

  #readAnswer(parts: readonly JsonRecord[], index: number): readonly PlacedEntry[] {
    const entries: PlacedEntry[] = [];
    let said: PlacedBlock[] = [];
    let results: PlacedBlock[] = [];
    const endStep = (): void => {
      entries.push({ speaker: 'ai', blocks: said }, { speaker: 'tool', blocks: results });
      [said, results] = [[], []];
    };
    for (const step of stepsOf(parts)) {
      this.#pairing.beginStep();
      const tools = step.filter(({ part }) => part['type'] === 'tool');
      const signsForAll =
        isSigned(tools[0]?.part) && tools.slice(1).some(({ part }) => !isSigned(part));
      let group: string | undefined;
      for (const { part, at } of step) {
        if (part['type'] !== 'tool' || isProviderExecuted(part)) {
          said.push(placed(readSaid(part), index, callPart(at)));
          continue;
        }
        const name = asText(part['tool']) ?? '';
        const use = { id: asText(part['callID']), name };
        const id = this.#pairing.call(use, [index, callPart(at)]);
        if (signsForAll) group ??= id;
        const parameters = asRecord(part['state'])?.['input'] ?? {};
        const call: ContentBlock = {
          ...{ type: 'tool_call', id, name, parameters },
          ...(group !== undefined && { parallelGroup: group }),
        };
        said.push(placed(call, index, callPart(at)));
        this.#pairing.answer(use, [index, resultPart(at)], true);
        results.push(placed(readResult(part, id, name), index, resultPart(at)));
      }
      endStep();
    }
    return entries;
  }
}

/** A part with its place in the message. */
interface PartAt {
  readonly part: JsonRecord;
  readonly at: number;
}

/** The parts that a model is sent, by the steps in which they were made. */
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
    isSentByUser(part) ? [placed(readSaid(part), index, callPart(at))] : [],
  );
  return { speaker: 'human', blocks };
}

function readSaid(part: JsonRecord): ContentBlock {
  const text = asText(part['text']) ?? '';
  switch (part['type']) {
    case 'text':
      return { type: 'text', text };
    case 'reasoning':
      return { type: 'thinking', thought: text, ...signatureOf(part) };
    case 'file': {
      const mimeType = asText(part['mime']) ?? 'application/octet-stream';
      const filename = asText(part['filename']);
      const file = { type: 'media', mimeType, data: '', encoding: 'url' } as const;
      return { ...file, ...(filename !== undefined && { filename }) };
    }
    default: {
      const kind = asText(part['type']) ?? 'unknown';
      return { type: 'opaque', kind, tokens: estimatePayloadTokens(part) };
    }
  }
}

function signatureOf({ metadata }: JsonRecord): { readonly signature?: string } {
  const signature = asText(asRecord(asRecord(metadata)?.['anthropic'])?.['signature']);
  return signature === undefined ? {} : { signature };
}

function readResult(part: JsonRecord, callId: string, toolName: string): ContentBlock {
  const { text, isError, attachments } = outcomeOf(part);
  const mediaTokens = attachments.reduce<number>(
    (sum, file) => sum + payloadTokens(asText(asRecord(file)?.['mime']) ?? ''),
    0,
  );
  return {
    ...{ type: 'tool_response', callId, toolName, result: text, isComplete: true },
    ...(isError && { error: failureLine(text) ?? 'The tool failed.' }),
    ...(mediaTokens > 0 && { mediaTokens }),
  };
}

/** Gemini signs the first of parallel calls alone, and wants it as long as the others stand. */
export function isSigned(part: JsonRecord | undefined): boolean {
  const google = asRecord(asRecord(part?.['metadata'])?.['google']);
  return google?.['thoughtSignature'] !== undefined;
}

/** A tool of the provider's own has its result there. */
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
