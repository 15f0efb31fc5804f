// Converts a history into the request in which it would be sent, grouped as each protocol requires. Omits what no adapter sends:
// blank text, incomplete results, reasoning without a signature.

import { isBlank } from '../content.js';
import type { ContentBlock, IContent } from '../content.js';
import { isRecord } from '../json.js';
import type {
  ProviderRequest,
  ProviderRequestOptions,
  Turn,
  TurnPart,
} from './provider-request.js';
import type { ProviderProfile } from './provider-violation.js';

/** Converts a history into a request. Linear in entries and blocks; reads no payloads. */
export function readHistory(
  history: readonly IContent[],
  profile: ProviderProfile,
  options: ProviderRequestOptions,
): ProviderRequest {
  const { sentBefore, ...rest } = options;
  const turnsOf = (entries: readonly IContent[]): readonly Turn[] =>
    GROUPINGS[profile](entries.flatMap(readEntry));
  return {
    ...rest,
    turns: turnsOf(history),
    ...(sentBefore !== undefined && { sent: sentBefore.map(turnsOf) }),
  };
}

/** An entry as parts; `index` is its position in the history. */
interface ReadEntry {
  readonly index: number;
  readonly speaker: IContent['speaker'];
  readonly parts: readonly TurnPart[];
}

const GROUPINGS: Readonly<
  Record<ProviderProfile, (entries: readonly ReadEntry[]) => readonly Turn[]>
> = {
  anthropic: alternatingTurns,
  bedrock: alternatingTurns,
  gemini: alternatingTurns,
  'openai-chat': (entries) => messageTurns(entries, chatMessage),
  'openai-responses': (entries) => messageTurns(entries, responseItems),
};

/** Merges consecutive entries of one side into one turn, in which results come first. */
function alternatingTurns(entries: readonly ReadEntry[]): readonly Turn[] {
  const runs = runsOf(entries, ({ speaker }) => speaker === 'ai');
  return runs.map((run) => {
    const parts = run.flatMap((entry) => entry.parts);
    const isAssistant = run[0]?.speaker === 'ai';
    return {
      role: isAssistant ? 'assistant' : 'user',
      parts: isAssistant ? parts : [...parts.filter(isResult), ...parts.filter(isNoResult)],
      ...(run[0] !== undefined && { entry: run[0].index }),
    };
  });
}

/** One turn per result; other parts of tool entries follow after all results. */
function messageTurns(
  entries: readonly ReadEntry[],
  assistantTurns: (entry: ReadEntry) => readonly Turn[],
): readonly Turn[] {
  return runsOf(entries, ({ speaker }) => speaker === 'tool').flatMap((run) => {
    if (run[0]?.speaker !== 'tool') {
      return run.flatMap((entry): readonly Turn[] =>
        entry.speaker === 'ai'
          ? assistantTurns(entry)
          : [{ role: 'user', parts: entry.parts, entry: entry.index }],
      );
    }
    const parts = run.flatMap((entry) => entry.parts);
    const others = parts.filter(isNoResult);
    const results = parts.filter(isResult).map((part): Turn => turnOf('tool', [part]));
    return others.length === 0 ? results : [...results, turnOf('user', others)];
  });
}

/** Chat Completions accept no reasoning. */
function chatMessage({ index, parts }: ReadEntry): readonly Turn[] {
  const said = parts.filter(({ kind }) => kind !== 'reasoning');
  return [{ role: 'assistant', parts: said, entry: index }];
}

/** Each call, each reasoning block, and the text between them is a separate item. */
function responseItems({ parts }: ReadEntry): readonly Turn[] {
  const isItem = ({ kind }: TurnPart): boolean => kind === 'call' || kind === 'reasoning';
  return runsOf(parts, isItem).flatMap((run) => {
    const first = run[0];
    if (first === undefined || !isItem(first)) return [turnOf('assistant', run)];
    return run.map((part) => {
      const itemId = reasoningItemId(part.content);
      return { ...turnOf('assistant', [part]), ...(itemId !== undefined && { itemId }) };
    });
  });
}

/** A history has no field for the ids of other items. */
function reasoningItemId(content: unknown): string | undefined {
  const { signature } = content as { readonly signature?: string };
  return signature?.startsWith('rs_') === true ? signature : undefined;
}

function turnOf(role: Turn['role'], parts: readonly TurnPart[]): Turn {
  const entry = parts[0]?.entry;
  return { role, parts, ...(entry !== undefined && { entry }) };
}

/** Splits a list into runs of items for which the predicate returns the same. */
function runsOf<T>(
  items: readonly T[],
  predicate: (item: T) => boolean,
): readonly (readonly T[])[] {
  const runs: T[][] = [];
  let last: boolean | undefined;
  for (const item of items) {
    const current = predicate(item);
    if (current === last) runs.at(-1)?.push(item);
    else runs.push([item]);
    last = current;
  }
  return runs;
}

function isResult({ kind }: TurnPart): boolean {
  return kind === 'result';
}

function isNoResult(part: TurnPart): boolean {
  return !isResult(part);
}

function readEntry(content: IContent, index: number): readonly ReadEntry[] {
  const { speaker, blocks } = content;
  // An entry with only incomplete results is not sent yet.
  if (blocks.length > 0 && blocks.every(isIncomplete)) return [];
  const marks = readMarks(content);
  let { isSigned } = marks;
  const parts: TurnPart[] = [];
  blocks.forEach((block, at) => {
    // An opaque block has no data of its own: two compactions by a provider differ in that of their entries.
    const data = block.type === 'opaque' ? content.metadata?.providerMetadata : undefined;
    const place = {
      content: data === undefined ? block : { ...block, data },
      entry: index,
      block: at,
    };
    const part = readBlock(block, speaker, place, isSigned);
    if (part === undefined) return;
    // The first call of a step has the signature of the reasoning before it. That of others does not matter.
    if (block.type === 'thinking') isSigned ||= block.signature !== undefined;
    parts.push(part);
  });
  const last = parts.pop();
  if (last !== undefined) {
    parts.push(marks.hasCacheControl ? { ...last, hasCacheControl: true } : last);
  }
  return [{ index, speaker, parts }];
}

function isIncomplete(block: ContentBlock): boolean {
  return block.type === 'tool_response' && block.isComplete === false;
}

interface Place {
  readonly content: unknown;
  readonly entry: number;
  readonly block: number;
}

function readBlock(
  block: ContentBlock,
  speaker: IContent['speaker'],
  place: Place,
  isSigned: boolean,
): TurnPart | undefined {
  switch (block.type) {
    case 'text':
      return isBlank(block.text) ? undefined : { kind: 'text', text: block.text, ...place };
    case 'code':
      // Sent in a fence, so the text does not end with white space of the code.
      if (isBlank(block.code)) return undefined;
      return { kind: 'text', text: block.code.trimEnd(), ...place };
    case 'thinking': {
      const isSealed = block.signature !== undefined || block.encryptedContent !== undefined;
      if (speaker !== 'ai' || !isSealed) return undefined;
      return { kind: 'reasoning', isSigned: true, ...place };
    }
    case 'tool_call': {
      const { id, name, parameters } = block;
      return {
        kind: 'call',
        id,
        name,
        hasObjectArguments: isRecord(parameters),
        isSigned,
        ...place,
      };
    }
    case 'tool_response': {
      const { callId, result, error } = block;
      if (isIncomplete(block)) return undefined;
      const isEmpty = isEmptyPayload(result) && isEmptyPayload(error);
      return { kind: 'result', callId, isError: error !== undefined, isEmpty, ...place };
    }
    case 'media':
    case 'opaque':
      return { kind: block.type, ...place };
  }
}

function isEmptyPayload(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === 'string' && isBlank(value));
}

interface Marks {
  /** Whether Gemini signed the entry. */
  readonly isSigned: boolean;
  readonly hasCacheControl: boolean;
}

const UNMARKED: Marks = { isSigned: false, hasCacheControl: false };

/** Reads `providerMetadata`, either flat or keyed by provider, with the field names of SDKs. */
function readMarks({ metadata }: IContent): Marks {
  const root = metadata?.providerMetadata;
  if (!isRecord(root)) return UNMARKED;
  const fields = [root, ...Object.values(root).filter(isRecord)];
  return {
    isSigned: fields.some((field) => 'thoughtSignature' in field),
    hasCacheControl: fields.some((field) => 'cacheControl' in field || 'cache_control' in field),
  };
}
