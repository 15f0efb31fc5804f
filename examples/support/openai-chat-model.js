// A minimal LangChain chat model on the `openai` SDK, with just what an agent needs. Sends LangChain's messages
// unchanged.

import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import { AIMessage } from '@langchain/core/messages';
import { convertToOpenAITool } from '@langchain/core/utils/function_calling';

const ROLES = { human: 'user', system: 'system', ai: 'assistant', tool: 'tool' };

/** See `openai-chat-model.d.ts`. */
export class OpenAiChatModel extends BaseChatModel {
  constructor({ client, model }) {
    super({});
    this.client = client;
    this.model = model;
  }

  _llmType() {
    return 'openai';
  }

  bindTools(tools) {
    return this.withConfig({ tools: tools.map((tool) => convertToOpenAITool(tool)) });
  }

  async _generate(messages, { tools, signal }) {
    const { choices, usage } = await this.client.chat.completions.create(
      { model: this.model, messages: messages.map(chatMessage), ...(tools?.length && { tools }) },
      { signal },
    );
    const { content, tool_calls: calls = [] } = choices[0].message;
    const message = new AIMessage({
      content: content ?? '',
      tool_calls: calls.map((call) => ({
        id: call.id,
        name: call.function.name,
        args: JSON.parse(call.function.arguments),
        type: 'tool_call',
      })),
      usage_metadata: {
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        total_tokens: usage.total_tokens,
      },
    });
    return { generations: [{ text: message.text, message }] };
  }
}

function chatMessage(message) {
  const role = ROLES[message.getType()];
  if (role === 'tool') return { role, tool_call_id: message.tool_call_id, content: message.text };
  const calls = role === 'assistant' ? message.tool_calls : [];
  if (calls.length === 0) return { role, content: message.text };
  return {
    role,
    content: message.text === '' ? null : message.text,
    tool_calls: calls.map(({ id, name, args }) => ({
      id,
      type: 'function',
      function: { name, arguments: JSON.stringify(args) },
    })),
  };
}
