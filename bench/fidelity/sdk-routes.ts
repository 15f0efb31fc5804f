// Converts recorded sessions to messages of each SDK and edited messages back to entries. One message per entry, so that unedited
// messages are recognized by identity.

import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';
import { messageCompactor as sdkCompactor } from '../../src/ai-sdk.js';
import { contentsCompactor } from '../../src/google.js';
import { toolCall, toolResponse } from '../../src/index.js';
import type { Compactor, ContentBlock, IContent } from '../../src/index.js';
import type { ToolResponseBlock } from '../../src/shared/content.js';
import { IMAGE_TOKENS } from '../../src/shared/tokens/content-text.js';

type Json = Readonly<Record<string, unknown>>;

/** How messages are made, read back and passed to the adapter. */
export interface SdkRoute<Message extends object> {
  readonly name: string;
  /** Returns `undefined` for an entry that no message can represent. */
  readonly write: (entry: IContent) => Message | undefined;
  readonly read: (message: Message) => IContent;
  /** The five-line integration. */
  readonly connect: (
    compactor: Compactor,
    conversationId?: string,
  ) => (messages: readonly Message[], model: string | undefined) => Promise<readonly Message[]>;
}

interface RouteParts {
  readonly name: string;
  readonly roles: Readonly<Record<IContent['speaker'], string>>;
  readonly partsKey: 'content' | 'parts';
  /** Ids are unique in a message list, so repeated ones are replaced. */
  readonly write: (block: ContentBlock) => Json | undefined;
  readonly read: (part: Json) => ContentBlock;
  readonly connect: SdkRoute<Json>['connect'];
}

function route({ name, roles, partsKey, write, read, connect }: RouteParts): SdkRoute<Json> {
  return {
    name,
    connect,
    write: ({ speaker, blocks }) => {
      const parts = blocks.flatMap((block) => write(block) ?? []);
      return parts.length === 0 ? undefined : { role: roles[speaker], [partsKey]: parts };
    },
    read: ({ role, [partsKey]: parts }) => {
      const blocks = (
        typeof parts === 'string' ? [{ type: 'text', text: parts }] : parts
      ) as Json[];
      const read_ = blocks.map(read);
      const speaker = role === roles.ai ? 'ai' : 'human';
      const isTool = read_.some(({ type }) => type === 'tool_response');
      return { speaker: isTool ? 'tool' : speaker, blocks: read_ };
    },
  };
}

/** Casts messages that a route wrote to the SDK's own types. */
function asGiven(messages: readonly object[]): never {
  return messages as never;
}

const text = (value: unknown): string =>
  typeof value === 'string' ? value : JSON.stringify(value);

/** One stand-in for each picture that a result has shown. */
function images<Image>({ mediaTokens = 0 }: ToolResponseBlock, image: Image): Image[] {
  return Array.from({ length: Math.ceil(mediaTokens / IMAGE_TOKENS) }, () => image);
}

function withImages(response: ToolResponseBlock, count: number): ToolResponseBlock {
  return count === 0 ? response : { ...response, mediaTokens: count * IMAGE_TOKENS };
}

/** The adapters to measure. */
export const SDK_ROUTES: readonly SdkRoute<Json>[] = [
  route({
    name: 'ctxfold/ai-sdk',
    roles: { human: 'user', ai: 'assistant', tool: 'tool' },
    partsKey: 'content',
    write: (block) => {
      switch (block.type) {
        case 'text':
          return { type: 'text', text: block.text };
        case 'thinking':
          return { type: 'reasoning', text: block.thought };
        case 'tool_call':
          return {
            type: 'tool-call',
            toolCallId: block.id,
            toolName: block.name,
            input: block.parameters,
          };
        case 'tool_response': {
          const value = block.result ?? '';
          const kind = block.error === undefined ? '' : 'error-';
          const image = { type: 'media', data: 'AA==', mediaType: 'image/png' };
          const shown = images(block, image);
          const told =
            typeof value === 'string'
              ? { type: `${kind}text`, value }
              : { type: `${kind}json`, value };
          const output =
            shown.length === 0
              ? told
              : { type: 'content', value: [{ type: 'text', text: text(value) }, ...shown] };
          return {
            type: 'tool-result',
            toolCallId: block.callId,
            toolName: block.toolName,
            output,
          };
        }
        default:
          return undefined;
      }
    },
    read: (part) => {
      if (part['type'] === 'tool-call')
        return toolCall(text(part['toolCallId']), text(part['toolName']), part['input']);
      if (part['type'] === 'tool-result') {
        const { type, value } = part['output'] as Json;
        const [told, ...shown] = type === 'content' ? (value as Json[]) : [];
        const result = told === undefined ? value : told['text'];
        const response = toolResponse(text(part['toolCallId']), text(part['toolName']), result);
        return withImages(response, shown.length);
      }
      if (part['type'] === 'reasoning') return { type: 'thinking', thought: text(part['text']) };
      return { type: 'text', text: text(part['text']) };
    },
    connect: (compactor, conversationId) => {
      const compact = sdkCompactor(compactor);
      return async (messages, modelName) =>
        asGiven(await compact(asGiven(messages), { modelName, conversationId }));
    },
  }),
  route({
    name: 'ctxfold/anthropic',
    roles: { human: 'user', ai: 'assistant', tool: 'user' },
    partsKey: 'content',
    write: (block) => {
      switch (block.type) {
        case 'text':
          return { type: 'text', text: block.text };
        case 'thinking':
          return { type: 'thinking', thinking: block.thought, signature: block.signature ?? '' };
        case 'tool_call':
          return { type: 'tool_use', id: block.id, name: block.name, input: block.parameters };
        case 'tool_response':
          return {
            type: 'tool_result',
            tool_use_id: block.callId,
            content: [
              { type: 'text', text: text(block.result ?? '') },
              ...images(block, {
                type: 'image',
                source: { type: 'base64', media_type: 'image/png', data: 'AA==' },
              }),
            ],
            ...(block.error !== undefined && { is_error: true }),
          };
        default:
          return undefined;
      }
    },
    read: (part) => {
      if (part['type'] === 'tool_use')
        return toolCall(text(part['id']), text(part['name']), part['input']);
      if (part['type'] === 'tool_result') {
        const { content } = part;
        const parts = Array.isArray(content) ? (content as Json[]) : [];
        const texts = parts.filter(({ type }) => type === 'text');
        const shown = Array.isArray(content)
          ? texts.map((each) => text(each['text'])).join('\n')
          : content;
        const response = toolResponse(text(part['tool_use_id']), '', shown);
        return withImages(response, parts.length - texts.length);
      }
      if (part['type'] === 'thinking') {
        return {
          type: 'thinking',
          thought: text(part['thinking']),
          signature: text(part['signature']),
        };
      }
      return { type: 'text', text: text(part['text']) };
    },
    connect: (compactor) => {
      const compact = anthropicCompactor(compactor);
      return async (messages, modelName) =>
        asGiven(await compact(asGiven(messages), { modelName }));
    },
  }),
  route({
    name: 'ctxfold/google',
    roles: { human: 'user', ai: 'model', tool: 'user' },
    partsKey: 'parts',
    write: (block) => {
      switch (block.type) {
        case 'text':
          return { text: block.text };
        case 'thinking':
          return { text: block.thought, thought: true };
        case 'tool_call':
          return {
            functionCall: { name: block.name, args: block.parameters },
            partMetadata: { id: block.id },
          };
        case 'tool_response': {
          const response = { [block.error === undefined ? 'output' : 'error']: block.result ?? '' };
          const shown = images(block, { inlineData: { mimeType: 'image/png', data: 'AA==' } });
          const parts = shown.length === 0 ? {} : { parts: shown };
          return {
            functionResponse: { name: block.toolName, response, ...parts },
            partMetadata: { id: block.callId },
          };
        }
        default:
          return undefined;
      }
    },
    // Call ids are for this measurement only: Gemini's API has none, so the adapter does not see them.
    read: (part) => {
      const { id } = (part['partMetadata'] ?? {}) as Json;
      const called = part['functionCall'] as Json | undefined;
      if (called !== undefined) return toolCall(text(id), text(called['name']), called['args']);
      const answered = part['functionResponse'] as Json | undefined;
      if (answered !== undefined) {
        const { output, error } = answered['response'] as Json;
        const response = toolResponse(text(id), text(answered['name']), output ?? error);
        return withImages(response, ((answered['parts'] ?? []) as Json[]).length);
      }
      return part['thought'] === true
        ? { type: 'thinking', thought: text(part['text']) }
        : { type: 'text', text: text(part['text']) };
    },
    connect: (compactor) => {
      const compact = contentsCompactor(compactor);
      return async (messages, modelName) =>
        asGiven(await compact(asGiven(messages), { modelName }));
    },
  }),
];
