// Requests of the real SDKs over loopback: valid ones pass, and broken ones cause the SDK's own error with the provider's
// text.

import { createAnthropic } from '@ai-sdk/anthropic';
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import Anthropic, { APIError as AnthropicError } from '@anthropic-ai/sdk';
import { ApiError, createPartFromFunctionResponse, GoogleGenAI } from '@google/genai';
import type { Content } from '@google/genai';
import { generateText, jsonSchema, streamText } from 'ai';
import type { ToolSet } from 'ai';
import OpenAI, { APIError as OpenAiError } from 'openai';
import { describe, expect, it } from 'vitest';

import { anthropicMessages } from '../../examples/support/history-as/anthropic.js';
import { modelMessages } from '../../examples/support/history-as/ai-sdk.js';
import { geminiContents } from '../../examples/support/history-as/gemini.js';
import { chatMessages } from '../../examples/support/history-as/openai-chat.js';
import { responseItems } from '../../examples/support/history-as/openai-responses.js';
import type { ScriptedStep } from '../../examples/support/scripted-provider.js';
import {
  aiContent,
  humanText,
  toolCall,
  toolContent,
  toolResponse,
} from '../../src/shared/content.js';
import { startStrictProvider } from './strict-provider.js';

const STEP: ScriptedStep = {
  text: 'There it is, in two pieces.',
  toolCalls: [{ name: 'read_file', input: { file_path: 'b.ts' } }],
};

/** Two parallel calls, an answer, and a new question. */
const HISTORY = [
  humanText('Compare the files.'),
  aiContent([
    { type: 'text', text: 'I read both.' },
    toolCall('call_1', 'read_file', { file_path: 'a.ts' }),
    toolCall('call_2', 'read_file', { file_path: 'b.ts' }),
  ]),
  toolContent([
    toolResponse('call_1', 'read_file', 'one'),
    toolResponse('call_2', 'read_file', '', 'no such file'),
  ]),
  aiContent('Only the first is there.'),
  humanText('Look again.'),
];

const ORPHANED = HISTORY.map((entry) =>
  entry.speaker === 'ai'
    ? { ...entry, blocks: entry.blocks.filter(({ type }) => type !== 'tool_call') }
    : entry,
);

const UNANSWERED = HISTORY.map((entry) =>
  entry.speaker === 'tool' ? { ...entry, blocks: entry.blocks.slice(0, 1) } : entry,
);

const TOOLS: ToolSet = {
  read_file: { inputSchema: jsonSchema({ type: 'object' }) },
};

describe('startStrictProvider for Anthropic', () => {
  const request = { model: 'claude', max_tokens: 100 };

  async function start(): Promise<Anthropic> {
    const { url } = await startStrictProvider([STEP, STEP]);
    return new Anthropic({ apiKey: 'none', baseURL: url, maxRetries: 0 });
  }

  it('takes a valid conversation, and answers the same streamed and whole', async () => {
    const client = await start();
    const messages = anthropicMessages(HISTORY);
    const whole = await client.messages.create({ ...request, messages });
    const streamed = await client.messages.stream({ ...request, messages }).finalMessage();
    expect(whole.content).toEqual([
      { type: 'text', text: STEP.text },
      { type: 'tool_use', id: 'toolu_scripted_0_0', ...STEP.toolCalls![0] },
    ]);
    expect(streamed.content).toMatchObject([
      { type: 'text', text: STEP.text },
      { type: 'tool_use', id: 'toolu_scripted_1_0', ...STEP.toolCalls![0] },
    ]);
    expect(whole.usage.input_tokens).toBeGreaterThan(100);
    expect(streamed.stop_reason).toBe('tool_use');
  });

  it('takes the blocks of every kind', async () => {
    const client = await start();
    const messages: Anthropic.MessageParam[] = [
      {
        role: 'user',
        content: [
          { type: 'image', source: { type: 'url', url: 'https://example.com/a.png' } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'text' } },
          { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: 'signed' },
          { type: 'redacted_thinking', data: 'sealed' },
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          { type: 'tool_use', id: 'toolu_1', name: 'read_file', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'one' }] },
        ],
      },
    ];
    const thinking = { type: 'enabled', budget_tokens: 1024 } as const;
    await expect(
      client.messages.create({ ...request, max_tokens: 4096, messages, thinking }),
    ).resolves.toMatchObject({ role: 'assistant' });
  });

  const text = (content: string): Anthropic.MessageParam => ({ role: 'user', content });
  const thinks: Anthropic.MessageParam = {
    role: 'assistant',
    content: [{ type: 'thinking', thinking: 'Hm.', signature: 'signed' }],
  };
  const cached: Anthropic.TextBlockParam = {
    type: 'text',
    text: 'x',
    cache_control: { type: 'ephemeral' },
  };

  it.each<[string, Partial<Anthropic.MessageCreateParamsNonStreaming>, string]>([
    [
      'a result without its call',
      { messages: anthropicMessages(ORPHANED) },
      'messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: call_1.',
    ],
    [
      'a call without its result',
      { messages: anthropicMessages(UNANSWERED) },
      '`tool_use` ids were found without `tool_result` blocks immediately after: call_2.',
    ],
    [
      'an empty message',
      { messages: [text('Hi.'), { role: 'assistant', content: [] }, text('Go on.')] },
      'all messages must have non-empty content',
    ],
    ['an empty text', { messages: [text('')] }, 'user messages must have non-empty content'],
    [
      'reasoning alone',
      { messages: [text('Hi.'), thinks, text('Go on.')] },
      'The final block in an assistant message cannot be `thinking`.',
    ],
    [
      'a turn without reasoning where the body turns it on',
      {
        messages: anthropicMessages(HISTORY.slice(0, 3)),
        thinking: { type: 'enabled', budget_tokens: 1024 },
        max_tokens: 4096,
      },
      'Expected `thinking` or `redacted_thinking`, but found `text`',
    ],
    [
      'five cache breakpoints in messages, system and tools',
      {
        messages: [{ role: 'user', content: [cached, cached, cached] }],
        system: [cached],
        tools: [
          { name: 'a', input_schema: { type: 'object' }, cache_control: { type: 'ephemeral' } },
        ],
      },
      'A maximum of 4 blocks with cache_control may be provided. Found 5.',
    ],
  ])('refuses %s', async (_name, params, message) => {
    const client = await start();
    const refused = await client.messages
      .create({ ...request, messages: [], ...params })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(AnthropicError);
    expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect((refused as Error).message).toContain(message);
  });
});

describe('startStrictProvider for Chat Completions', () => {
  async function start(): Promise<OpenAI> {
    const { url } = await startStrictProvider([STEP, STEP]);
    return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  }

  it('takes a valid conversation, and answers the same streamed and whole', async () => {
    const client = await start();
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      ...chatMessages(HISTORY),
      { role: 'assistant' as const, refusal: 'No.' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'Please.' }] },
    ];
    const whole = await client.chat.completions.create({ model: 'gpt', messages });
    const streamed = await client.chat.completions
      .stream({ model: 'gpt', messages, stream_options: { include_usage: true } })
      .finalChatCompletion();
    for (const { choices, usage } of [whole, streamed]) {
      const called = { name: 'read_file', arguments: JSON.stringify({ file_path: 'b.ts' }) };
      expect(choices[0]?.message).toMatchObject({
        content: STEP.text,
        tool_calls: [{ type: 'function', function: called }],
      });
      expect(choices[0]?.finish_reason).toBe('tool_calls');
      expect(usage?.prompt_tokens).toBeGreaterThan(100);
    }
  });

  const hi: OpenAI.ChatCompletionMessageParam = { role: 'user', content: 'Hi.' };

  it.each<[string, OpenAI.ChatCompletionMessageParam[], string]>([
    [
      'a tool message without calls',
      chatMessages(ORPHANED),
      "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'",
    ],
    [
      'a call without its tool message',
      chatMessages(UNANSWERED),
      'The following tool_call_ids did not have response messages: call_2',
    ],
    [
      'an empty message',
      [hi, { role: 'assistant', content: null }, hi],
      "Invalid value for 'content': expected a string, got null.",
    ],
    [
      'a system message between a call and its result',
      chatMessages(HISTORY).flatMap((message): OpenAI.ChatCompletionMessageParam[] =>
        message.role === 'tool' ? [{ role: 'system' as const, content: 'x' }, message] : [message],
      ),
      'The following tool_call_ids did not have response messages: call_1, call_2',
    ],
  ])('refuses %s', async (_name, messages, message) => {
    const client = await start();
    const refused = await client.chat.completions
      .create({ model: 'gpt', messages })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAiError);
    expect(refused).toMatchObject({ status: 400, type: 'invalid_request_error' });
    expect((refused as Error).message).toContain(message);
  });
});

describe('startStrictProvider for Responses', () => {
  async function start(): Promise<OpenAI> {
    const { url } = await startStrictProvider([STEP, STEP]);
    return new OpenAI({ apiKey: 'none', baseURL: `${url}/v1`, maxRetries: 0 });
  }

  const reasoning: OpenAI.Responses.ResponseReasoningItem = {
    type: 'reasoning',
    id: 'rs_1',
    summary: [],
    encrypted_content: 'sealed',
  };
  const message: OpenAI.Responses.ResponseOutputMessage = {
    type: 'message',
    id: 'msg_1',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: 'Yes.', annotations: [] }],
  };
  const hi: OpenAI.Responses.ResponseInputItem = { role: 'user', content: 'Hi.' };

  it('takes a valid conversation, and answers the same streamed and whole', async () => {
    const client = await start();
    const input: OpenAI.Responses.ResponseInputItem[] = [
      ...responseItems(HISTORY),
      reasoning,
      message,
      { type: 'custom_tool_call', call_id: 'call_3', name: 'patch', input: '*** Begin' },
      { type: 'custom_tool_call_output', call_id: 'call_3', output: 'done' },
      { type: 'web_search_call', id: 'ws_1', status: 'completed' } as never,
      { role: 'user', content: [{ type: 'input_text', text: 'And?' }] },
    ];
    const whole = await client.responses.create({ model: 'gpt', input });
    const streamed = await client.responses.stream({ model: 'gpt', input }).finalResponse();
    for (const response of [whole, streamed]) {
      expect(response.output_text).toBe(STEP.text);
      expect(response.output).toMatchObject([
        { type: 'message' },
        { type: 'function_call', name: 'read_file', arguments: '{"file_path":"b.ts"}' },
      ]);
      expect(response.usage?.input_tokens).toBeGreaterThan(100);
    }
  });

  it('does not judge what the service itself holds', async () => {
    const client = await start();
    const input: OpenAI.Responses.ResponseInputItem[] = [
      { type: 'function_call_output', call_id: 'call_1', output: 'one' },
    ];
    const continued = { model: 'gpt', input, previous_response_id: 'resp_1' };
    await expect(client.responses.create(continued)).resolves.toHaveProperty('status', 'completed');
    await expect(client.responses.create({ model: 'gpt', input })).rejects.toThrow(
      'No tool call found for function call output with call_id call_1.',
    );
  });

  it.each<[string, OpenAI.Responses.ResponseInputItem[], string]>([
    [
      'an output without its call',
      responseItems(ORPHANED),
      'No tool call found for function call output with call_id call_1.',
    ],
    [
      'a call without its output',
      responseItems(UNANSWERED),
      'No tool output found for function call call_2.',
    ],
    [
      'reasoning alone',
      [hi, reasoning, hi],
      "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
    ],
    ['an item twice', [hi, message, hi, message, hi], 'Duplicate item found with id msg_1.'],
    [
      'a custom call without its output',
      [hi, { type: 'custom_tool_call', call_id: 'call_3', name: 'patch', input: 'x' }],
      'No tool output found for function call call_3.',
    ],
  ])('refuses %s', async (_name, input, text) => {
    const client = await start();
    const refused = await client.responses
      .create({ model: 'gpt', input })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(OpenAiError);
    expect(refused).toMatchObject({ status: 400, param: 'input' });
    expect((refused as Error).message).toContain(text);
  });
});

describe('startStrictProvider for Gemini', () => {
  async function start(callIds = true): Promise<GoogleGenAI> {
    const { url } = await startStrictProvider([STEP, STEP], { callIds });
    return new GoogleGenAI({ apiKey: 'none', httpOptions: { baseUrl: url } });
  }

  it.each([true, false])(
    'takes a valid conversation with ids or without (%s), and answers the same streamed and whole',
    async (ids) => {
      const client = await start(ids);
      const request = { model: 'gemini-2.5-pro', contents: geminiContents(HISTORY, { ids }) };
      const whole = await client.models.generateContent(request);
      const texts: string[] = [];
      for await (const chunk of await client.models.generateContentStream(request)) {
        texts.push(...(chunk.candidates?.[0]?.content?.parts ?? []).map(({ text }) => text ?? ''));
        expect(chunk.usageMetadata?.promptTokenCount).toBeGreaterThan(50);
      }
      expect(whole.candidates?.[0]?.content?.parts?.[0]).toEqual({ text: STEP.text });
      expect(whole.functionCalls).toEqual([
        {
          ...(ids && { id: 'scripted-0-0' }),
          name: 'read_file',
          args: { file_path: 'b.ts' },
        },
      ]);
      expect(texts.join('')).toBe(STEP.text);
      expect(texts.length).toBeGreaterThan(2);
    },
  );

  const hi: Content = { role: 'user', parts: [{ text: 'Hi.' }] };
  const unsigned: Content = {
    role: 'model',
    parts: [{ functionCall: { name: 'read_file', args: {} } }],
  };
  const answered: Content = {
    role: 'user',
    parts: [createPartFromFunctionResponse('scripted-0-0', 'read_file', { output: 'one' })],
  };

  it('goes on with a chat whose answers were streamed', async () => {
    const client = await start();
    const chat = client.chats.create({ model: 'gemini-3-pro' });
    for (const message of ['Hi.', answered.parts!]) {
      for await (const chunk of await chat.sendMessageStream({ message })) {
        expect(chunk.candidates).toHaveLength(1);
      }
    }
    expect(chat.getHistory(true).length).toBeGreaterThan(4);
  });

  // The AI SDK's Google package sends each message as a separate content, as other callers do.
  it('takes two contents of the user in a row', async () => {
    const client = await start();
    const contents = [hi, hi];
    await client.models.generateContent({ model: 'gemini-3-pro', contents });
  });

  it.each<[string, Content[], string]>([
    [
      'a response without its call',
      geminiContents(ORPHANED),
      'function response turn comes immediately after a function call turn',
    ],
    [
      'a call without its response',
      geminiContents(UNANSWERED),
      'the number of function response parts is equal to the number of function call parts',
    ],
    [
      'an empty content',
      [hi, { role: 'model', parts: [] }, hi],
      'contents.parts must not be empty',
    ],
    [
      'an empty content beside another one of the model',
      [hi, { role: 'model', parts: [] }, { role: 'model', parts: [{ text: 'Hi.' }] }, hi],
      'contents.parts must not be empty',
    ],
    [
      'a content of the model first',
      [unsigned, answered],
      "First content should be with role 'user'",
    ],
    [
      'a call of the present turn without signature',
      [hi, unsigned, answered],
      'Function call is missing a thought_signature in functionCall parts.',
    ],
  ])('refuses %s', async (_name, contents, message) => {
    const client = await start();
    const refused = await client.models
      .generateContent({ model: 'gemini-3-pro', contents })
      .catch((error: unknown) => error);
    expect(refused).toBeInstanceOf(ApiError);
    expect(refused).toMatchObject({ status: 400 });
    expect((refused as Error).message).toContain('INVALID_ARGUMENT');
    expect((refused as Error).message).toContain(message);
  });
});

describe.each(['openai-compatible', 'anthropic'] as const)(
  'startStrictProvider for the AI SDK with %s',
  (name) => {
    async function start(): Promise<Parameters<typeof generateText>[0]['model']> {
      const { url } = await startStrictProvider([STEP, STEP]);
      const options = { apiKey: 'none', baseURL: `${url}/v1` };
      return name === 'anthropic'
        ? createAnthropic(options)('claude-sonnet-4-5')
        : createOpenAICompatible({ ...options, name, includeUsage: true })('gpt');
    }

    it('takes a valid conversation, and answers the same streamed and whole', async () => {
      const model = await start();
      const messages = modelMessages(HISTORY);
      const whole = await generateText({ model, messages, tools: TOOLS });
      const streamed = streamText({ model, messages, tools: TOOLS });
      expect([whole.text, await streamed.text]).toEqual([STEP.text, STEP.text]);
      for (const [call] of [whole.toolCalls, await streamed.toolCalls]) {
        expect(call).toMatchObject({ toolName: 'read_file', input: { file_path: 'b.ts' } });
      }
      for (const { inputTokens } of [whole.usage, await streamed.usage]) {
        expect(inputTokens).toBeGreaterThan(100);
      }
    });
  },
);

describe('failNext', () => {
  it('fails so many requests, and the SDKs try again', async () => {
    const provider = await startStrictProvider([STEP, STEP, STEP]);
    const anthropic = new Anthropic({ apiKey: 'none', baseURL: provider.url });
    const openai = new OpenAI({ apiKey: 'none', baseURL: `${provider.url}/v1` });
    const messages = [{ role: 'user' as const, content: 'Hi.' }];
    provider.failNext(503, 2);
    await anthropic.messages.create({ model: 'claude', max_tokens: 10, messages });
    provider.failNext(429);
    await openai.chat.completions.create({ model: 'gpt', messages });
    expect(provider.requests.map(({ status }) => status)).toEqual([503, 503, 200, 429, 200]);
  });
});
