// Hand-written loops of an agent over OpenAI's SDK, in both APIs: the model is asked until it makes no more calls.

import OpenAI from 'openai';
import type { ChatCompletionMessageParam } from 'openai/resources/chat/completions';
import type { ResponseInputItem, ResponseOutputItem } from 'openai/resources/responses/responses';
import type { ScriptedProvider } from '../../../examples/support/scripted-provider.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { runTool, workspaceTools } from './scripted-work.js';

/** How a loop makes its requests. */
export interface LoopOptions<Message> {
  readonly isStreaming: boolean;
  /** @default sends all messages as they are */
  readonly compact?: (messages: readonly Message[]) => Promise<Message[]>;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

const MODEL = 'gpt-5.5';

function clientOf({ url }: ScriptedProvider, fetch = globalThis.fetch): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey: 'none', maxRetries: 0, fetch });
}

/** Returns all messages of a chat. The caller's messages are frozen. */
export async function runChat(
  provider: ScriptedProvider,
  {
    isStreaming,
    compact = async (messages) => [...messages],
    fetch,
  }: LoopOptions<ChatCompletionMessageParam>,
): Promise<readonly ChatCompletionMessageParam[]> {
  const { completions } = clientOf(provider, fetch).chat;
  const files = await workspaceTools();
  const tools = files.map(({ name, description, inputSchema }) => {
    const described = { name, description, parameters: { ...inputSchema } };
    return { type: 'function', function: described } as const;
  });
  const messages: ChatCompletionMessageParam[] = [
    { role: 'system', content: 'You are a coding agent.' },
    { role: 'user', content: [{ type: 'text', text: 'Tidy up the shop.' }] },
  ];
  for (;;) {
    deepFreeze(messages.slice());
    const request = { model: MODEL, messages: await compact(messages), tools };
    const streamed = { ...request, stream_options: { include_usage: true } };
    const answer = isStreaming
      ? await completions.stream(streamed).finalChatCompletion()
      : await completions.create(request);
    const message = answer.choices[0]!.message;
    messages.push(message);
    if (message.tool_calls === undefined) return messages;
    for (const call of message.tool_calls) {
      if (call.type !== 'function') continue;
      const content = await runTool(files, call.function.name, call.function.arguments);
      messages.push({ role: 'tool', tool_call_id: call.id, content });
    }
  }
}

/** Returns all items of a conversation. The caller's items are frozen. */
export async function runResponses(
  provider: ScriptedProvider,
  { isStreaming, compact = async (items) => [...items], fetch }: LoopOptions<ResponseInputItem>,
): Promise<readonly ResponseInputItem[]> {
  const { responses } = clientOf(provider, fetch);
  const files = await workspaceTools();
  const tools = files.map(({ name, description, inputSchema }) => {
    const described = { name, description, parameters: { ...inputSchema } };
    return { type: 'function', ...described, strict: true } as const;
  });
  const items: ResponseInputItem[] = [
    { role: 'developer', content: 'You are a coding agent.' },
    { role: 'user', content: [{ type: 'input_text', text: 'Tidy up the shop.' }] },
  ];
  for (;;) {
    deepFreeze(items.slice());
    const request = {
      model: MODEL,
      input: await compact(items),
      tools,
      store: false,
      include: ['reasoning.encrypted_content' as const],
    };
    const { output }: { output: readonly ResponseOutputItem[] } = isStreaming
      ? await responses.stream(request).finalResponse()
      : await responses.create(request);
    // The API accepts the items of a response as input, whatever their type says.
    items.push(...(output as ResponseInputItem[]));
    const calls = output.filter((item) => item.type === 'function_call');
    if (calls.length === 0) return items;
    for (const { call_id, name, arguments: given } of calls) {
      const answer = await runTool(files, name, given);
      items.push({ type: 'function_call_output', call_id, output: answer });
    }
  }
}
