// Shared by both formats of items (Responses API and Agents SDK): which kinds may be edited, and how edits are applied. Items are
// unchecked records, because every version of the SDKs adds kinds.

import { isInstruction, opaqueBlockOf } from '../format/blocks.js';
import { isSameButForCacheMarks } from '../format/cache-marks.js';
import { toolCall } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { asArray, asRecord, asText } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { programsIn } from '../format/pinned-calls.js';
import { madeFrom } from '../format/originals.js';
import { joinTexts } from '../format/placed.js';
import { editedContent } from '../format/part-edits.js';
import { spreadable } from '../format/plain-data.js';
import {
  compactionBlock,
  isCompactionPart,
  ITEM_PROVIDER_MESSAGES,
} from '../format/provider-compaction.js';
import type { MessageFormat, PartEdits } from '../format/message-format.js';
import type { Sdk } from '../format/sdk-of-message.js';
import {
  BUILT_IN_CALLS,
  BUILT_IN_OUTPUTS,
  builtInCall,
  readBuiltInOutput,
  withBuiltInOutput,
} from './built-in-tools.js';
import { callArguments, readContent, readFunctionOutput, rewriteOutput } from './content-parts.js';
import { ItemRunReader } from './item-runs.js';
import type { ItemReading } from './item-runs.js';

/** The differences between the formats of items. */
export interface ItemDialect {
  readonly sdk: Sdk;
  /** Field of the id that calls and outputs share. */
  readonly callIdKey: 'call_id' | 'callId';
  readonly readReasoning: (item: JsonRecord) => ContentBlock;
  /** Returns the provider's own item for an item of another kind. @default the item itself */
  readonly originalOf?: (item: JsonRecord) => JsonRecord;
  /** As in `MessageFormat`. @default all but cache marks must be equal */
  readonly isSame?: (a: object, b: object) => boolean;
  /** Creates a message for a text that ctxfold wrote. */
  readonly write: (speaker: 'user' | 'assistant', text: string) => JsonRecord;
}

/** Kinds of the model's items that are pinned even without a call id. Items of other kinds are pinned if they have one. */
const PINNED_MODEL_KINDS: ReadonlySet<string> = new Set([
  'mcp_approval_request',
  'tool_search_call',
  'tool_search_output',
  'compaction',
  // Unless it is known to what it refers; see `readReference`.
  'item_reference',
]);

/** Kinds of items that may be removed only together with their answer. The call that is approved is in a later run. */
const ASKING_KINDS: ReadonlySet<string> = new Set(['mcp_approval_request', 'program']);

/** Kinds of items that are for the provider. The model's run ends before them. */
const PINNED_KINDS: ReadonlySet<string> = new Set([
  'additional_tools',
  'configuration_update',
  'compaction_trigger',
]);

/** Creates the format of items in a dialect. */
export function createItemFormat<Item extends object>(dialect: ItemDialect): MessageFormat<Item> {
  return {
    sdk: dialect.sdk,
    createReader: () => new ItemRunReader<Item>((item, where) => readItem(item, where, dialect)),
    isSame: dialect.isSame ?? isSameButForCacheMarks,
    isInstruction,
    rewrite: (item, edits) => madeFrom(rewriteItem(spreadable(item), edits), item),
    write: ({ speaker, blocks }) =>
      dialect.write(speaker === 'ai' ? 'assistant' : 'user', joinTexts(blocks)) as Item,
    provider: ITEM_PROVIDER_MESSAGES,
  };
}

function readItem(value: unknown, where: string, dialect: ItemDialect): ItemReading {
  const item = asRecord(value);
  if (item === undefined) throw new TypeError(`Expected an item, an object, at ${where}.`);
  const kind = asText(item['type']) ?? (item['role'] === undefined ? 'item_reference' : 'message');
  switch (kind) {
    case 'message':
      return readMessage(item, where);
    case 'reasoning':
      return { kind: 'model', blocks: [dialect.readReasoning(item)] };
    case 'function_call':
    case 'custom_tool_call':
      return readCall(item, kind, where, dialect);
    case 'item_reference':
      return readReference(item, dialect);
    case 'function_call_output':
    case 'function_call_result':
    case 'custom_tool_call_output':
      return {
        kind: 'output',
        callId: textOf(item, dialect.callIdKey, where),
        ...readFunctionOutput(item['output']),
      };
    default:
      return (
        readBuiltIn(item, kind, dialect) ??
        readOther(item, dialect.originalOf?.(item) ?? item, dialect)
      );
  }
}

function readBuiltIn(
  item: JsonRecord,
  kind: string,
  { callIdKey }: ItemDialect,
): ItemReading | undefined {
  // The output of the older local shell has the id of its call as its own.
  const callId = asText(item[callIdKey]) ?? asText(item['id']);
  if (callId === undefined) return undefined;
  if (BUILT_IN_OUTPUTS.has(kind)) return { kind: 'output', callId, ...readBuiltInOutput(item) };
  const call = BUILT_IN_CALLS.has(kind) ? builtInCall(item, callId) : undefined;
  return call && { kind: 'model', blocks: [call], programs: programsIn(item['caller']) };
}

function readOther(
  item: JsonRecord,
  original: JsonRecord,
  { callIdKey }: ItemDialect,
): ItemReading {
  const kind = asText(original['type']) ?? 'item_reference';
  // The output of a tool search by the provider is part of the model's run; the output of a search by the client ends the run.
  const isAnswer = kind === 'tool_search_output' && original['execution'] === 'client';
  const callId = asText(item[callIdKey]) ?? asText(original['call_id']) ?? asText(original['id']);
  const approvalId = asText(original['approval_request_id']);
  if (kind === 'mcp_approval_response') {
    // After a denial, no call follows, so this completes the exchange.
    const isDenied = original['approve'] === false;
    return { kind: 'pinned', relatedId: approvalId, ...(isDenied && { answeredId: approvalId }) };
  }
  if (isAnswer || PINNED_KINDS.has(kind)) return { kind: 'pinned', answeredId: callId };
  if (isCompactionPart(original))
    return { kind: 'compaction', block: compactionBlock(opaqueBlockOf(kind, item), 'openai') };
  const isPinned = PINNED_MODEL_KINDS.has(kind) || hasPartner(item) || hasPartner(original);
  const askedId = ASKING_KINDS.has(kind) ? callId : undefined;
  const resultOf = kind === 'program_output' ? callId : undefined;
  const answeredId = kind === 'mcp_call' ? approvalId : resultOf;
  const programs = programsIn(original['caller']);
  const blocks = [opaqueBlockOf(kind, item)];
  return { kind: 'model', blocks, isPinned, askedId, answeredId, programs };
}

/**
 * Reads a reference to an item that the server keeps. By their ids, references to reasoning and to messages count as these items: the AI
 * SDK sends them by default. Any other one may stand for a call, so its run is pinned.
 */
function readReference(item: JsonRecord, dialect: ItemDialect): ItemReading {
  const [kind] = /^(?:rs|msg)(?=_)/.exec(asText(item['id']) ?? '') ?? [];
  if (kind === undefined) return readOther(item, item, dialect);
  const block = kind === 'rs' ? dialect.readReasoning(item) : opaqueBlockOf('item_reference', item);
  return { kind: 'model', blocks: [block] };
}

function readMessage(item: JsonRecord, where: string): ItemReading {
  switch (item['role']) {
    case 'user':
      return { kind: 'human', blocks: readContent(item['content'], where) };
    case 'assistant':
      return { kind: 'model', blocks: readContent(item['content'], where) };
    default:
      return { kind: 'pinned' };
  }
}

function readCall(
  item: JsonRecord,
  kind: 'function_call' | 'custom_tool_call',
  where: string,
  dialect: ItemDialect,
): ItemReading {
  const id = textOf(item, dialect.callIdKey, where);
  const name = textOf(item, 'name', where);
  const parameters =
    kind === 'function_call' ? callArguments(item['arguments']) : { input: item['input'] ?? '' };
  const programs = programsIn(item['caller']);
  return { kind: 'model', blocks: [toolCall(id, name, parameters)], programs };
}

/** Whether an item must be kept or removed together with another one. */
function hasPartner(item: JsonRecord): boolean {
  const ids = [item['call_id'], item['callId'], item['approval_request_id']];
  return ids.some((id) => typeof id === 'string') || programsIn(item['caller']).length > 0;
}

function textOf(item: JsonRecord, key: string, where: string): string {
  const text = asText(item[key]);
  if (text !== undefined) return text;
  throw new TypeError(`Expected a string as ${key} of ${where}, a ${String(item['type'])}.`);
}

/** Applies edits to the parts of a message, to an output, or to the arguments of a call. Other items are never edited. */
function rewriteItem<Item extends object>(item: Item, edits: PartEdits): Item {
  if ('content' in item) return { ...item, content: editedContent(item.content, edits) };
  const edit = edits.get(0);
  if (edit?.type === 'tool_call') {
    if (!('arguments' in item || 'input' in item)) return item;
    return 'arguments' in item
      ? { ...item, arguments: JSON.stringify(edit.parameters) }
      : { ...item, ...asRecord(edit.parameters) };
  }
  if (!('output' in item) || edit?.type !== 'tool_response') return item;
  const text = String(edit.result);
  const isBuiltIn = 'type' in item && BUILT_IN_OUTPUTS.has(String(item.type));
  const output = isBuiltIn
    ? withBuiltInOutput({ ...item }, text)
    : rewriteOutput(item.output, text, 'input_text');
  return { ...item, output };
}

/** Joins the texts in lists of parts, one line each. */
export function thoughtOf(...lists: readonly unknown[]): string {
  return lists
    .flatMap(asArray)
    .flatMap((part) => asText(asRecord(part)?.['text']) ?? [])
    .join('\n');
}
