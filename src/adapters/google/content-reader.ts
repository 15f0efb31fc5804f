// Reads the contents of one conversation as entries, and pairs responses with calls. Groups parallel calls so that no edit
// removes the one whose signature Gemini requires.

import type { Content } from '@google/genai';
import { asArray, asRecord, asText } from '../../shared/json.js';
import { toolCall } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { answerBlock } from '../blocks.js';
import { CallPairing } from '../call-pairing.js';
import type { ToolUseName } from '../call-pairing.js';
import { runSlices } from '../../shared/slices.js';
import type {
  MessageReader,
  PlacedBlock,
  PlacedEntry,
  Reading,
  ReadingInSlices,
} from '../message-format.js';
import { groupOfCalls, PER_SLICE, placed } from '../placed.js';
import { plainData } from '../plain-data.js';
import { isEmptyPart, mediaTokensOf, opaquePart, readOutcome, readPart } from './read-part.js';
import type { PartFields } from './read-part.js';

export class ContentReader implements MessageReader<Content> {
  readonly #pairing = new CallPairing();
  #lastRole = 'user';

  read(given: readonly Content[], firstIndex: number): Reading {
    return runSlices(this.readInSlices(given, firstIndex));
  }

  *readInSlices(given: readonly Content[], firstIndex: number): ReadingInSlices {
    const contents: ReadContent[] = [];
    for (const [at, content] of given.entries()) {
      if (at % PER_SLICE === 0) yield;
      contents.push(readContent(content, firstIndex + at));
    }
    const entries: PlacedEntry[] = [];
    let pinnedTokens = 0;
    let group: Group = {};
    for (const [at, { role, parts, content }] of contents.entries()) {
      if (at % PER_SLICE === 0) yield;
      const index = firstIndex + at;
      if (role === undefined || parts.length === 0) {
        pinnedTokens += estimatePayloadTokens(content);
        continue;
      }
      if (role === 'model' && this.#lastRole === 'user') this.#pairing.beginStep();
      if (role === 'model' && contents[at - 1]?.role !== 'model') {
        group = groupOfCalls(stepAt(contents, at).map(isSigned), index);
      }
      this.#lastRole = role;
      if (role === 'user') entries.push(...this.#readUser(parts, index));
      else entries.push(this.#readModel(parts, index, group));
    }
    return { entries, pinnedTokens };
  }

  /** Responses become an entry of their own, before that of the user's other parts. */
  #readUser(parts: readonly PartFields[], index: number): readonly PlacedEntry[] {
    const responses: PlacedBlock[] = [];
    const others: PlacedBlock[] = [];
    parts.forEach((part, at) => {
      const response = this.#readResponse(part, index, at);
      if (response !== undefined) responses.push(response);
      else others.push(placed(callOf(part) ? opaquePart(part) : readPart(part), index, at));
    });
    const entries: PlacedEntry[] = [];
    if (responses.length > 0) entries.push({ speaker: 'tool', blocks: responses });
    if (others.length > 0) entries.push({ speaker: 'human', blocks: others });
    return entries;
  }

  #readResponse(part: PartFields, index: number, at: number): PlacedBlock | undefined {
    const functionResponse = asRecord(part['functionResponse']);
    if (functionResponse === undefined) return undefined;
    const isComplete = functionResponse['willContinue'] !== true;
    const answers = toolUseName(functionResponse);
    const call = this.#pairing.answer(answers, [index, at], isComplete);
    const outcome = readOutcome(functionResponse);
    const mediaTokens = mediaTokensOf(functionResponse);
    const block = answerBlock(call, { ...outcome, mediaTokens });
    return placed({ ...block, isComplete }, index, at);
  }

  #readModel(parts: readonly PartFields[], index: number, group: Group): PlacedEntry {
    const ids = parts.map((part, at) => {
      const call = callOf(part);
      return call && this.#pairing.call(toolUseName(call), [index, at]);
    });
    const firstId = ids.find((id) => id !== undefined);
    let lastId: string | undefined;
    const blocks = parts.map((part, at): PlacedBlock => {
      const functionCall = callOf(part);
      const id = ids[at];
      lastId = id ?? lastId;
      if (functionCall === undefined || id === undefined) {
        return placed(readOther(part, lastId ?? firstId), index, at);
      }
      const name = asText(functionCall['name']) ?? '';
      const call = toolCall(id, name, functionCall['args'] ?? {});
      return placed({ ...call, ...group }, index, at);
    });
    return { speaker: 'ai', blocks };
  }
}

type Group = ReturnType<typeof groupOfCalls>;

/** The calls of a step, which consists of the model's contents between two of the user, from `start` on. */
function stepAt(contents: readonly ReadContent[], start: number): readonly PartFields[] {
  let end = start + 1;
  while (contents[end]?.role === 'model') end += 1;
  return contents.slice(start, end).flatMap(({ parts }) => parts.filter(callOf));
}

function isSigned({ thoughtSignature }: PartFields): boolean {
  return thoughtSignature !== undefined && thoughtSignature !== null;
}

function callOf(part: PartFields): PartFields | undefined {
  return asRecord(part['functionCall']);
}

function toolUseName({ id, name }: PartFields): ToolUseName {
  return { id: asText(id), name: asText(name) };
}

/** An empty part may carry a signature: it depends on the call before it, or else on the first one. */
function readOther(part: PartFields, callId: string | undefined): ContentBlock {
  if (asRecord(part['functionResponse']) !== undefined) return opaquePart(part);
  const block = readPart(part);
  if (block.type !== 'opaque' || !isEmptyPart(part)) return block;
  return callId === undefined ? block : { ...block, callId };
}

/** A content as plain data. */
interface ReadContent {
  readonly content: PartFields;
  /** The user's if the content has none, `undefined` if it is unknown. */
  readonly role: 'user' | 'model' | undefined;
  readonly parts: readonly PartFields[];
}

/** The API accepts responses also in the roles that its first versions had for them. */
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
