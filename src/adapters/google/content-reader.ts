// Reads the contents of one conversation as entries, and remembers which calls wait for a response. Makes
// sure that no edit leaves a call unsigned that Gemini wants signed.

import type { Content, Part } from '@google/genai';
import type { ContentBlock } from '../../shared/content.js';
import { estimatePayloadTokens } from '../../shared/tokens/estimate.js';
import { CallPairing } from '../call-pairing.js';
import type { MessageReader, PlacedBlock, PlacedEntry, Reading } from '../message-format.js';
import { placed } from '../placed.js';
import { mediaTokensOf, readOutcome } from './function-response.js';
import { isEmptyPart, opaquePart, readPart } from './read-part.js';

/** A reader of contents. */
export class ContentReader implements MessageReader<Content> {
  readonly #pairing = new CallPairing();
  #lastRole = 'user';

  read(contents: readonly Content[], firstIndex: number): Reading {
    const entries: PlacedEntry[] = [];
    let pinnedTokens = 0;
    let parallel: ParallelCalls = NO_CALLS;
    contents.forEach((content, at) => {
      const index = firstIndex + at;
      const role = roleOf(content, index);
      const parts = partsOf(content, index);
      if (role === undefined || parts.length === 0) {
        pinnedTokens += estimatePayloadTokens(content);
        return;
      }
      if (role === 'model' && this.#lastRole === 'user') this.#pairing.beginStep();
      if (role === 'model' && contents[at - 1]?.role !== 'model') {
        parallel = parallelCalls(contents, at);
      }
      this.#lastRole = role;
      if (role === 'user') entries.push(...this.#readUser(parts, index));
      else entries.push(this.#readModel(parts, index, parallel));
    });
    return { entries, pinnedTokens };
  }

  /** Responses stand in an entry of their own, in front of what the user says beside them. */
  #readUser(parts: readonly Part[], index: number): readonly PlacedEntry[] {
    const responses: PlacedBlock[] = [];
    const others: PlacedBlock[] = [];
    parts.forEach((part, at) => {
      const response = this.#readResponse(part, index, at);
      if (response !== undefined) responses.push(response);
      else others.push(placed(part.functionCall ? opaquePart(part) : readPart(part), index, at));
    });
    const entries: PlacedEntry[] = [];
    if (responses.length > 0) entries.push({ speaker: 'tool', blocks: responses });
    if (others.length > 0) entries.push({ speaker: 'human', blocks: others });
    return entries;
  }

  #readResponse(part: Part, index: number, at: number): PlacedBlock | undefined {
    const { functionResponse } = part;
    if (functionResponse === undefined) return undefined;
    const isComplete = functionResponse.willContinue !== true;
    const { blockId, name } = this.#pairing.answer(functionResponse, [index, at], isComplete);
    const mediaTokens = mediaTokensOf(functionResponse);
    return placed(
      {
        type: 'tool_response',
        callId: blockId,
        toolName: name,
        ...readOutcome(functionResponse),
        isComplete,
        ...(mediaTokens > 0 && { mediaTokens }),
      },
      index,
      at,
    );
  }

  #readModel(parts: readonly Part[], index: number, parallel: ParallelCalls): PlacedEntry {
    const ids = parts.map(({ functionCall }, at) =>
      functionCall === undefined ? undefined : this.#pairing.call(functionCall, [index, at]),
    );
    const firstId = ids.find((id) => id !== undefined);
    let lastId: string | undefined;
    const blocks = parts.map((part, at): PlacedBlock => {
      const { functionCall } = part;
      const id = ids[at];
      lastId = id ?? lastId;
      if (functionCall === undefined || id === undefined) {
        return placed(readOther(part, lastId ?? firstId), index, at);
      }
      const name = functionCall.name ?? '';
      return placed(
        {
          type: 'tool_call',
          id,
          name: part === parallel.signed ? signedName(name, parallel.count) : name,
          parameters: functionCall.args ?? {},
        },
        index,
        at,
      );
    });
    return { speaker: 'ai', blocks };
  }
}

/** The call of a step that signs for others, and how many calls the step has. */
interface ParallelCalls {
  readonly signed: Part | undefined;
  readonly count: number;
}

const NO_CALLS: ParallelCalls = { signed: undefined, count: 0 };

/**
 * Of calls in parallel Gemini signs the first alone, and refuses the step if the first call that is left
 * has no signature (checked in the present turn, which may last a whole session). A step is what the
 * model says between two contents of the user; it begins with the content at `start`.
 */
function parallelCalls(contents: readonly Content[], start: number): ParallelCalls {
  let end = start + 1;
  while (contents[end]?.role === 'model') end += 1;
  const calls = contents
    .slice(start, end)
    .flatMap(({ parts = [] }) => parts.filter(({ functionCall }) => functionCall !== undefined));
  const [first, ...others] = calls;
  const signs = isSigned(first) && others.some((part) => !isSigned(part));
  return { signed: signs ? first : undefined, count: calls.length };
}

function isSigned(part: Part | undefined): boolean {
  return part?.thoughtSignature !== undefined;
}

/**
 * Density passes drop single calls, of tools that they know by name. Under another name this one stays
 * until its whole step goes; what is written back is the part, and that has its own name.
 */
function signedName(name: string, count: number): string {
  return `${name} (first of ${count} parallel calls)`;
}

/** What signs a call without being part of it, goes with it: the one before it, or else the first. */
function readOther(part: Part, callId: string | undefined): ContentBlock {
  if (part.functionResponse !== undefined) return opaquePart(part);
  const block = readPart(part);
  if (block.type !== 'opaque' || !isEmptyPart(part)) return block;
  return callId === undefined ? block : { ...block, callId };
}

/** `undefined` for a role that Gemini does not have; a content without one is the user's. */
function roleOf(content: unknown, index: number): 'user' | 'model' | undefined {
  if (typeof content !== 'object' || content === null) {
    const got = typeof content === 'string' ? 'a string' : String(content);
    throw new TypeError(
      `Expected a content { role, parts } at contents[${index}], got ${got}. ` +
        "Wrap a text as { role: 'user', parts: [{ text }] }.",
    );
  }
  const role = 'role' in content ? content.role : undefined;
  if (role === 'model') return role;
  return role === undefined || role === 'user' ? 'user' : undefined;
}

function partsOf({ parts = [] }: Content, index: number): readonly Part[] {
  if (!Array.isArray(parts)) {
    throw new TypeError(`Expected an array at contents[${index}].parts, got ${typeof parts}.`);
  }
  parts.forEach((part: unknown, at) => {
    if (typeof part === 'object' && part !== null) return;
    const got = part === null ? 'null' : typeof part;
    throw new TypeError(`Expected a part at contents[${index}].parts[${at}], got ${got}.`);
  });
  return parts;
}
