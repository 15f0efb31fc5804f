// Reads plain chats of OpenAI's API, and those of agents that keep to it: OpenHands, SWE-smith.

import {
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  runsCommands,
} from '../../shared/tool-catalog.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import { asRecord } from '../../shared/json.js';
import { ChatReader } from './chat-reader.js';
import { EDITOR_TOOL } from './editor-tool.js';
import type { DocumentFormat } from './format.js';
import { readXmlFunctionCall } from './xml-function-call.js';

/** What such agents' tools do; keys were taken from recorded sessions. */
const TOOLS: ToolCatalog = extendToolCatalog(DEFAULT_TOOL_CATALOG, {
  str_replace_editor: EDITOR_TOOL,
  str_replace_based_edit_tool: EDITOR_TOOL,
  bash: runsCommands(),
  execute_bash: runsCommands(),
});

/** Chats of OpenAI's API: any messages with roles. */
export const OPENAI_CHAT: DocumentFormat<'openai-chat'> = {
  name: 'openai-chat',
  toolCatalog: TOOLS,
  detectDocument: (_, messages) =>
    messages.some((message) => typeof asRecord(message)?.['role'] === 'string'),
  lists: ['messages'],
  open: (history) =>
    new ChatReader(history, { readTextCall: (_, text) => readXmlFunctionCall(text) }),
};
