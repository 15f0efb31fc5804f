import type { BaseMessage } from '@langchain/core/messages';
import { BaseChatModel } from '@langchain/core/language_models/chat_models';
import type { BindToolsInput } from '@langchain/core/language_models/chat_models';
import type { ChatResult } from '@langchain/core/outputs';
import type { Runnable } from '@langchain/core/runnables';
import type OpenAI from 'openai';

/** A LangChain chat model for Chat Completions, on the `openai` SDK. `@langchain/openai` can do more. */
export declare class OpenAiChatModel extends BaseChatModel {
  readonly model: string;
  constructor(options: { readonly client: OpenAI; readonly model: string });
  _llmType(): string;
  override bindTools(tools: BindToolsInput[]): Runnable;
  _generate(messages: BaseMessage[], options: this['ParsedCallOptions']): Promise<ChatResult>;
}
