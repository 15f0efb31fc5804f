// Histories as messages in the SDKs' formats. Empty ids are omitted where a format allows it.

import { AIMessage, HumanMessage, ToolMessage } from '@langchain/core/messages';
import type { BaseMessage } from '@langchain/core/messages';
import type { ContentBlock, IContent } from '../../src/index.js';

type Json = Readonly<Record<string, unknown>>;

function textOf(block: ContentBlock): string {
  return block.type === 'text' ? block.text : block.type === 'thinking' ? block.thought : '';
}

function id(name: string, value: string): Json {
  return value === '' ? {} : { [name]: value };
}

/** The messages of the AI SDK. */
export function sdkMessages(history: readonly IContent[]): readonly Json[] {
  return history.map(({ speaker, blocks }) => ({
    role: speaker === 'human' ? 'user' : speaker === 'ai' ? 'assistant' : 'tool',
    content: blocks.map((block): Json => {
      if (block.type === 'tool_call') {
        const { id: toolCallId, name: toolName, parameters } = block;
        return { type: 'tool-call', toolCallId, toolName, input: parameters };
      }
      if (block.type === 'tool_response') {
        const { callId: toolCallId, toolName, result } = block;
        const value = result as string;
        const output =
          typeof value === 'string' ? { type: 'text', value } : { type: 'json', value };
        return { type: 'tool-result', toolCallId, toolName, output };
      }
      return { type: block.type === 'thinking' ? 'reasoning' : 'text', text: textOf(block) };
    }),
  }));
}

/** The messages of the Anthropic API. */
export function anthropicMessages(history: readonly IContent[]): readonly Json[] {
  return history.map(({ speaker, blocks }) => ({
    role: speaker === 'ai' ? 'assistant' : 'user',
    content: blocks.map((block): Json => {
      if (block.type === 'tool_call') {
        return { type: 'tool_use', id: block.id, name: block.name, input: block.parameters };
      }
      if (block.type === 'tool_response') {
        const content = [{ type: 'text', text: String(block.result) }];
        return { type: 'tool_result', tool_use_id: block.callId, content };
      }
      if (block.type === 'thinking') {
        return { type: 'thinking', thinking: block.thought, signature: 's' };
      }
      return { type: 'text', text: textOf(block) };
    }),
  }));
}

/** The contents of Google GenAI. */
export function geminiContents(history: readonly IContent[]): readonly Json[] {
  return history.map(({ speaker, blocks }) => ({
    role: speaker === 'ai' ? 'model' : 'user',
    parts: blocks.map((block): Json => {
      if (block.type === 'tool_call') {
        return {
          functionCall: { ...id('id', block.id), name: block.name, args: block.parameters },
        };
      }
      if (block.type === 'tool_response') {
        const response = { output: block.result };
        return {
          functionResponse: { ...id('id', block.callId), name: block.toolName, response },
        };
      }
      return { text: textOf(block), ...(block.type === 'thinking' && { thought: true }) };
    }),
  }));
}

/** The messages of Chat Completions. */
export function chatMessages(history: readonly IContent[]): readonly Json[] {
  return history.flatMap(({ speaker, blocks }): readonly Json[] => {
    if (speaker === 'tool') {
      return blocks.flatMap((block) =>
        block.type === 'tool_response'
          ? [{ role: 'tool', tool_call_id: block.callId, content: String(block.result) }]
          : [],
      );
    }
    const content = blocks
      .filter(({ type }) => type === 'text')
      .map((block) => ({ type: 'text', text: textOf(block) }));
    if (speaker === 'human') return [{ role: 'user', content }];
    const calls = blocks.flatMap((block) =>
      block.type === 'tool_call'
        ? [
            {
              id: block.id,
              type: 'function',
              function: { name: block.name, arguments: JSON.stringify(block.parameters) },
            },
          ]
        : [],
    );
    return [{ role: 'assistant', content, ...(calls.length > 0 && { tool_calls: calls }) }];
  });
}

/** The items of the Responses API, or those of the Agents SDK. */
export function items(history: readonly IContent[], api: 'responses' | 'agents'): readonly Json[] {
  const isAgents = api === 'agents';
  return history.flatMap(({ speaker, blocks }) =>
    blocks.map((block): Json => {
      if (block.type === 'tool_call') {
        return {
          type: 'function_call',
          [isAgents ? 'callId' : 'call_id']: block.id,
          name: block.name,
          arguments: JSON.stringify(block.parameters),
          ...(isAgents && { status: 'completed' }),
        };
      }
      if (block.type === 'tool_response') {
        const output = String(block.result);
        return isAgents
          ? {
              type: 'function_call_result',
              callId: block.callId,
              name: block.toolName,
              status: 'completed',
              output: { type: 'text', text: output },
            }
          : { type: 'function_call_output', call_id: block.callId, output };
      }
      const isModel = speaker === 'ai';
      const part = { type: isModel ? 'output_text' : 'input_text', text: textOf(block) };
      return {
        type: 'message',
        role: isModel ? 'assistant' : 'user',
        status: 'completed',
        content: [part],
      };
    }),
  );
}

/** The messages of LangChain. */
export function langchainMessages(history: readonly IContent[]): readonly BaseMessage[] {
  return history.flatMap(({ speaker, blocks }): readonly BaseMessage[] => {
    if (speaker === 'tool') {
      return blocks.flatMap((block) =>
        block.type === 'tool_response'
          ? [
              new ToolMessage({
                tool_call_id: block.callId,
                name: block.toolName,
                content: String(block.result),
              }),
            ]
          : [],
      );
    }
    const content = blocks
      .filter(({ type }) => type === 'text')
      .map((block) => ({ type: 'text' as const, text: textOf(block) }));
    if (speaker === 'human') return [new HumanMessage({ content })];
    const calls = blocks.flatMap((block) =>
      block.type === 'tool_call'
        ? [
            {
              ...(block.id !== '' && { id: block.id }),
              name: block.name,
              args: block.parameters as Record<string, unknown>,
            },
          ]
        : [],
    );
    return [new AIMessage({ content, tool_calls: calls })];
  });
}
