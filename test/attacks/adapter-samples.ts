// For each adapter, a conversation that is pruned, and messages with every kind of part, for attacks to put hostile values
// into. Asserts nothing.

import { AIMessage, HumanMessage, SystemMessage, ToolMessage } from '@langchain/core/messages';
import { messageCompactor as aiSdkCompactor } from '../../src/ai-sdk.js';
import { messageCompactor as anthropicCompactor } from '../../src/anthropic.js';
import { contentsCompactor } from '../../src/google.js';
import { messageCompactor as langchainCompactor } from '../../src/langchain.js';
import { chatCompactor, inputCompactor } from '../../src/openai.js';
import { agentItemFormat } from '../../src/adapters/openai/agent-item-format.js';
import { createItemCompactor } from '../../src/adapters/openai/input-compactor.js';
import type { AdapterOptions, CompactCall } from '../../src/adapters/request/adapter-options.js';
import type { Compactor } from '../../src/main/compactor.js';

/** An adapter's function without its message types. */
export type Compact = (messages: unknown, call?: CompactCall) => Promise<unknown[]>;

export interface AdapterSample {
  readonly name: string;
  readonly open: (compactor: Compactor, options?: AdapterOptions) => Compact;
  /** A conversation with a stale read, of which the result or everything is removed. */
  readonly talk: () => unknown[];
  /** Messages that may follow, as plain data. */
  readonly more: () => Record<string, unknown>[];
  /** Converts the plain data to messages, if the format has classes. @default unchanged */
  readonly made?: (message: unknown) => unknown;
}

const ARGS = { absolute_path: '/w/a.ts' };
const LONG = 'a line of the file\n'.repeat(40);
const WRITTEN = { absolute_path: '/w/a.ts', content: 'new' };

const aiSdk: AdapterSample = {
  name: 'ai-sdk',
  open: (compactor, options) => aiSdkCompactor(compactor, options) as Compact,
  talk: () => [
    { role: 'user', content: 'Read a.ts.' },
    ...['read_file', 'write_file'].flatMap((toolName) => [
      {
        role: 'assistant',
        content: [
          { type: 'text', text: toolName },
          { type: 'tool-call', toolCallId: toolName, toolName, input: ARGS },
        ],
      },
      {
        role: 'tool',
        content: [
          {
            type: 'tool-result',
            toolCallId: toolName,
            toolName,
            output: { type: 'text', value: LONG },
          },
        ],
      },
    ]),
  ],
  more: () => [
    { role: 'system', content: 'Be brief.' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See.', providerOptions: { anthropic: { cacheControl: {} } } },
        { type: 'file', mediaType: 'image/png', data: 'QUJD', filename: 'a.png' },
        { type: 'file', mediaType: 'text/plain', data: { type: 'text', text: 'x' } },
      ],
    },
    {
      role: 'assistant',
      content: [
        { type: 'reasoning', text: 'hm', providerOptions: { x: { signature: 's' } } },
        { type: 'tool-call', toolCallId: 'c1', toolName: 'look', input: { q: ['x'] } },
        { type: 'tool-approval-request', approvalId: 'a1', toolCallId: 'c1' },
        { type: 'novelty', deep: { list: [1] } },
      ],
    },
    {
      role: 'tool',
      content: [
        { type: 'tool-approval-response', approvalId: 'a1', approved: true },
        {
          type: 'tool-result',
          toolCallId: 'c1',
          toolName: 'look',
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'x' },
              { type: 'media', mediaType: 'image/png', data: 'QUJD' },
            ],
          },
        },
      ],
    },
  ],
};

const anthropic: AdapterSample = {
  name: 'anthropic',
  open: (compactor, options) => anthropicCompactor(compactor, options) as Compact,
  talk: () => [
    { role: 'user', content: 'Read a.ts.' },
    ...['read_file', 'write_file'].flatMap((name) => [
      { role: 'assistant', content: [{ type: 'tool_use', id: name, name, input: ARGS }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: name, content: LONG },
          { type: 'text', text: 'Go on.' },
        ],
      },
    ]),
  ],
  more: () => [
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'redacted_thinking', data: 'd' },
        { type: 'text', text: 'I look.', cache_control: { type: 'ephemeral' } },
        { type: 'tool_use', id: 'c1', name: 'look', input: { q: ['x'] }, caller: {} },
      ],
    },
    {
      role: 'user',
      content: [
        {
          type: 'tool_result',
          tool_use_id: 'c1',
          is_error: true,
          content: [
            { type: 'text', text: 'x' },
            { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'QUJD' } },
          ],
        },
        { type: 'document', title: 't', source: { type: 'text', data: 'x' } },
        { type: 'novelty', deep: { list: [1] } },
      ],
    },
  ],
};

const openAiTalk = (name: string): object[] => [
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: name, type: 'function', function: { name, arguments: JSON.stringify(WRITTEN) } },
    ],
  },
  { role: 'tool', tool_call_id: name, content: LONG },
];

const chat: AdapterSample = {
  name: 'openai chat',
  open: (compactor, options) => chatCompactor(compactor, options) as Compact,
  talk: () => [
    { role: 'user', content: 'Read a.ts.' },
    ...openAiTalk('read_file'),
    ...openAiTalk('write_file'),
  ],
  more: () => [
    { role: 'developer', content: 'Be brief.', name: 'n' },
    {
      role: 'user',
      content: [
        { type: 'text', text: 'See.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
        { type: 'file', file: { filename: 'a.pdf' } },
      ],
    },
    {
      role: 'assistant',
      content: [{ type: 'text', text: 'I look.' }],
      reasoning_content: 'hm',
      refusal: 'no',
      audio: { id: 'a' },
      tool_calls: [
        { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } },
        { id: 'c2', type: 'custom', custom: { name: 'cut', input: 'x' } },
      ],
    },
    { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'x' }] },
    { role: 'tool', tool_call_id: 'c2', content: 'y' },
  ],
};

const itemTalk = (name: string, id: 'call_id' | 'callId', output: string): object[] => [
  { type: 'function_call', [id]: name, name, arguments: JSON.stringify(WRITTEN) },
  { type: output, [id]: name, output: LONG },
];

const moreItems = (id: 'call_id' | 'callId', output: string): Record<string, unknown>[] => [
  { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'See.' }] },
  {
    type: 'reasoning',
    id: 'r',
    summary: [{ type: 'summary_text', text: 'hm' }],
    encrypted_content: 'e',
    providerData: { encryptedContent: 'e' },
  },
  { type: 'function_call', [id]: 'c1', name: 'look', arguments: '{}', caller: { type: 'model' } },
  {
    type: output,
    [id]: 'c1',
    output: [
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: {} },
      { type: 'input_image', detail: 'low' },
    ],
  },
  { type: 'hosted_tool_call', name: 'web_search', providerData: { type: 'web_search_call' } },
  { type: 'mcp_approval_request', id: 'm', arguments: '{}' },
  { role: 'user', content: 'On.' },
];

const responses: AdapterSample = {
  name: 'openai responses',
  open: (compactor, options) => inputCompactor(compactor, options) as Compact,
  talk: () => [
    { role: 'user', content: 'Read a.ts.' },
    ...itemTalk('read_file', 'call_id', 'function_call_output'),
    ...itemTalk('write_file', 'call_id', 'function_call_output'),
  ],
  more: () => moreItems('call_id', 'function_call_output'),
};

const agents: AdapterSample = {
  name: 'openai agents',
  open: (compactor, options) => createItemCompactor(compactor, agentItemFormat, options) as Compact,
  talk: () => [
    { role: 'user', content: 'Read a.ts.' },
    ...itemTalk('read_file', 'callId', 'function_call_result'),
    ...itemTalk('write_file', 'callId', 'function_call_result'),
  ],
  more: () => moreItems('callId', 'function_call_result'),
};

const google: AdapterSample = {
  name: 'google',
  open: (compactor, options) => contentsCompactor(compactor, options) as Compact,
  talk: () => [
    { role: 'user', parts: [{ text: 'Read a.ts.' }] },
    ...['read_file', 'write_file'].flatMap((name) => [
      { role: 'model', parts: [{ functionCall: { name, args: ARGS } }] },
      { role: 'user', parts: [{ functionResponse: { name, response: { output: LONG } } }] },
    ]),
  ],
  more: () => [
    {
      role: 'model',
      parts: [
        { text: 'hm', thought: true, thoughtSignature: 's' },
        { functionCall: { id: 'c1', name: 'look', args: { q: ['x'] } }, thoughtSignature: 's' },
        { functionCall: { name: 'look' } },
        { executableCode: { code: '1' } },
      ],
    },
    {
      role: 'user',
      parts: [
        {
          functionResponse: {
            id: 'c1',
            name: 'look',
            willContinue: false,
            response: { error: 'x' },
            parts: [{ inlineData: { mimeType: 'image/png' } }],
          },
        },
        { inlineData: { mimeType: 'image/png', data: 'QUJD', displayName: 'a' } },
        { fileData: { fileUri: 'gs://a', mimeType: 'text/plain' } },
      ],
    },
  ],
};

const CLASSES: Readonly<Record<string, new (fields: never) => object>> = {
  human: HumanMessage,
  ai: AIMessage,
  tool: ToolMessage,
  system: SystemMessage,
};

/** The message constructors refuse a lot, but deserializing or assigning a field bypasses them. */
function langchainMessage(given: unknown): unknown {
  if (typeof given !== 'object' || given === null) return given;
  let type: unknown;
  try {
    type = (given as { readonly kind?: unknown }).kind;
  } catch {
    return given;
  }
  const Class = typeof type === 'string' ? CLASSES[type] : undefined;
  if (Class === undefined || !Object.hasOwn(CLASSES, String(type))) return given;
  const message = new Class({ content: '', tool_call_id: 'x' } as never);
  for (const [key, descriptor] of Object.entries(Object.getOwnPropertyDescriptors(given))) {
    if (key !== 'kind') Object.defineProperty(message, key, descriptor);
  }
  return message;
}

const langchain: AdapterSample = {
  name: 'langchain',
  open: (compactor, options) => langchainCompactor(compactor, options) as Compact,
  talk: () => [
    new HumanMessage('Read a.ts.'),
    ...['read_file', 'write_file'].flatMap((name) => [
      new AIMessage({ content: '', tool_calls: [{ id: name, name, args: ARGS }] }),
      new ToolMessage({ content: LONG, tool_call_id: name, name }),
    ]),
  ],
  more: () => [
    { kind: 'system', content: 'Be brief.' },
    {
      kind: 'human',
      id: 'h',
      content: [
        { type: 'text', text: 'See.' },
        { type: 'image_url', image_url: { url: 'data:image/png;base64,QUJD' } },
      ],
    },
    {
      kind: 'ai',
      content: [
        { type: 'thinking', thinking: 'hm', signature: 's' },
        { type: 'tool_use', id: 'c1', name: 'look', input: { q: 'x' } },
        { type: 'reasoning_content', reasoningText: { text: 'x', signature: 's' } },
      ],
      tool_calls: [{ id: 'c1', name: 'look', args: { q: ['x'] } }],
      invalid_tool_calls: [{ id: 'c2', name: 'cut', args: '{' }],
      additional_kwargs: { tool_calls: [{ id: 'c1' }] },
      response_metadata: { output: [{ type: 'function_call', call_id: 'c1' }] },
      usage_metadata: { input_tokens: 1 },
    },
    { kind: 'tool', name: 'look', tool_call_id: 'c1', status: 'error', content: 'x' },
  ],
  made: langchainMessage,
};

export const ADAPTER_SAMPLES: readonly AdapterSample[] = [
  aiSdk,
  anthropic,
  chat,
  responses,
  agents,
  google,
  langchain,
];
