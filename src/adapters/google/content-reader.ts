// Reads the contents of one conversation as entries, and pairs responses with calls. Groups parallel calls, so that no edit removes
// the call whose signature Gemini requires.

import type { Content } from '@google/genai';
import { asArray, asRecord, asText } from '../../shared/json.js';
import { pushTo } from '../../shared/lists-by-key.js';
import { toolCall } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { answerBlock } from '../format/blocks.js';
import { CallPairing } from '../format/call-pairing.js';
import type { ToolUseName } from '../format/call-pairing.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../format/message-format.js';
import { mediaTokensIn } from '../format/opaque-tokens.js';
import { fixedIf, groupOfCalls, placed } from '../format/placed.js';
import { plainData } from '../format/plain-data.js';
import {
  isEmptyPart,
  mediaOfResponses,
  mimeTypeIn,
  opaquePart,
  readOutcome,
  readPart,
} from './read-part.js';
import type { PartFields } from './read-part.js';

export class ContentReader implements MessageReader<Content> {
  readonly #pairing = new CallPairing();
  /** The model's contents since the last one of another role. */
  #step: ReadContent[] = [];
  /** Whether the last content that is not pinned is the model's. */
  #isInStep = false;

  read(given: Content, index: number, reading: Reading): void {
    const content = readContent(given, index);
    if (content.role === 'model') {
      this.#step.push(content);
      return;
    }
    this.end(reading);
    if (isPinned(content)) {
      pin(content, reading);
      return;
    }
    this.#isInStep = false;
    reading.entries.push(...this.#readUser(content.parts, index));
  }

  end(reading: Reading): void {
    const step = this.#step;
    this.#step = [];
    const calls = step.flatMap(({ parts }) => parts.filter(callOf));
    const group = groupOfCalls(calls.map(isSigned), step[0]?.index ?? 0);
    const blocks: PlacedBlock[] = [];
    for (const content of step) {
      if (isPinned(content)) {
        pin(content, reading);
        continue;
      }
      if (!this.#isInStep) this.#pairing.beginStep();
      this.#isInStep = true;
      blocks.push(...this.#readModel(content.parts, content.index, group));
    }
    // Adjacent contents of the model are one answer: chats of the SDKs keep each chunk of a stream as a content.
    if (blocks.length > 0) reading.entries.push({ speaker: 'ai', blocks });
  }

  /** Responses become an entry of their own, before the entry with the user's other parts. */
  #readUser(parts: readonly PartFields[], index: number): readonly PlacedEntry[] {
    const responses: PlacedBlock[] = [];
    const others: PlacedBlock[] = [];
    const owners = mediaOfResponses(parts);
    const media = new Map<number, PartFields[]>();
    for (const [at, owner] of owners) pushTo(media, owner, parts[at] as PartFields);
    parts.forEach((part, at) => {
      if (owners.has(at)) return;
      const response = this.#readResponse(part, media.get(at) ?? [], index, at);
      if (response !== undefined) responses.push(response);
      else others.push(placed(callOf(part) ? opaquePart(part) : readPart(part), index, at));
    });
    const entries: PlacedEntry[] = [];
    if (responses.length > 0) entries.push({ speaker: 'tool', blocks: responses });
    if (others.length > 0) entries.push({ speaker: 'human', blocks: others });
    return entries;
  }

  /** @param media the images and files that belong to the response */
  #readResponse(
    part: PartFields,
    media: readonly PartFields[],
    index: number,
    at: number,
  ): PlacedBlock | undefined {
    const functionResponse = asRecord(part['functionResponse']);
    if (functionResponse === undefined) return undefined;
    const isComplete = functionResponse['willContinue'] !== true;
    const answers = toolUseName(functionResponse);
    const call = this.#pairing.answer(answers, [index, at], isComplete);
    const outcome = readOutcome(functionResponse);
    const mediaTokens = (outcome.mediaTokens ?? 0) + mediaTokensIn(media, mimeTypeIn);
    const block = answerBlock(call, { ...outcome, mediaTokens });
    return placed({ ...block, isComplete }, index, at);
  }

  #readModel(parts: readonly PartFields[], index: number, group: Group): readonly PlacedBlock[] {
    const ids = parts.map((part, at) => {
      const call = callOf(part);
      return call && this.#pairing.call(toolUseName(call), [index, at]);
    });
    const firstId = ids.find((id) => id !== undefined);
    let lastId: string | undefined;
    return parts.map((part, at): PlacedBlock => {
      const functionCall = callOf(part);
      const id = ids[at];
      lastId = id ?? lastId;
      if (functionCall === undefined || id === undefined) {
        return placed(readOther(part, lastId ?? firstId), index, at);
      }
      const name = asText(functionCall['name']) ?? '';
      const call = toolCall(id, name, functionCall['args'] ?? {});
      return placed({ ...call, ...group, ...fixedIf(isSigned(part)) }, index, at);
    });
  }
}

type Group = ReturnType<typeof groupOfCalls>;

function isSigned({ thoughtSignature }: PartFields): boolean {
  return thoughtSignature !== undefined && thoughtSignature !== null;
}

function callOf(part: PartFields): PartFields | undefined {
  return asRecord(part['functionCall']);
}

function toolUseName({ id, name }: PartFields): ToolUseName {
  return { id: asText(id), name: asText(name) };
}

/** Reads a part that is no call. An empty part may carry a signature, so it depends on the call before it, or else on the first one. */
function readOther(part: PartFields, callId: string | undefined): ContentBlock {
  if (asRecord(part['functionResponse']) !== undefined) return opaquePart(part);
  const block = readPart(part);
  if (block.type !== 'opaque' || !isEmptyPart(part)) return block;
  return callId === undefined ? block : { ...block, callId };
}

/** A content, copied to plain data. */
interface ReadContent {
  readonly index: number;
  readonly content: PartFields;
  /** `user` if the content names no role; `undefined` if the role is unknown. */
  readonly role: 'user' | 'model' | undefined;
  readonly parts: readonly PartFields[];
}

function isPinned({ role, parts }: ReadContent): boolean {
  return role === undefined || parts.length === 0;
}

function pin({ content }: ReadContent, reading: Reading): void {
  reading.pinnedTokens += estimatePayloadTokens(content);
}

/** Roles that count as the user's: the API still accepts responses in the roles that its first versions had for them. */
const USER_ROLES: ReadonlySet<unknown> = new Set(['user', 'function', 'tool']);

function readContent(given: unknown, index: number): ReadContent {
  const where = `contents[${index}]`;
  const content = asRecord(plainData(given, where));
  if (content === undefined) {
    const got = typeof given === 'string' ? 'a string' : given === null ? 'null' : typeof given;
    throw new TypeError(
      `Expected a content { role, parts } at ${where}, got ${got}. ` +
        "Wrap a text as { role: 'user', parts: [{ text }] }.",
    );
  }
  const role = content['role'] ?? 'user';
  return {
    index,
    content,
    role: role === 'model' ? role : USER_ROLES.has(role) ? 'user' : undefined,
    parts: readParts(content['parts'] ?? [], where),
  };
}

function readParts(parts: unknown, where: string): readonly PartFields[] {
  if (!Array.isArray(parts)) {
    throw new TypeError(`Expected an array at ${where}.parts, got ${typeof parts}.`);
  }
  return asArray(parts).map((given, at) => {
    const part = asRecord(given);
    if (part !== undefined) return part;
    const got = given === null ? 'null' : typeof given;
    throw new TypeError(`Expected a part at ${where}.parts[${at}], got ${got}.`);
  });
}
