// Reads plain chats of OpenAI's API, and those of OpenHands and SWE-smith, which use its format.

import {
  DEFAULT_TOOL_CATALOG,
  extendToolCatalog,
  runsCommands,
} from '../../shared/tool-catalog.js';
import type { ContentBlock } from '../../shared/content.js';
import { asRecord } from '../../shared/json.js';
import { CHAT_ROLES, ChatReader } from './chat-reader.js';
import { EDITOR_TOOL } from './editor-tool.js';
import type { Format } from './format.js';

/** Whether a message has a role of a chat, and something to read: lists of users have roles, too. */
function isChatMessage(message: unknown): boolean {
  const { role, content, tool_calls: calls, function_call: call } = asRecord(message) ?? {};
  return CHAT_ROLES.has(role) && [content, calls, call].some((part) => part !== undefined);
}

/** Chats in the format of OpenAI's API: any messages with its roles. */
export const OPENAI_CHAT: Format<'openai-chat'> = {
  name: 'openai-chat',
  // Keys were taken from recorded sessions.
  toolCatalog: extendToolCatalog(DEFAULT_TOOL_CATALOG, {
    str_replace_editor: EDITOR_TOOL,
    str_replace_based_edit_tool: EDITOR_TOOL,
    bash: runsCommands(),
    execute_bash: runsCommands(),
  }),
  document: {
    detect: (_, messages) => messages.some(isChatMessage),
    lists: ['messages'],
  },
  open: (history) =>
    new ChatReader(history, { readTextCall: (_, text) => readXmlFunctionCall(text) }),
};

/**
 * Reads the tool call that OpenHands and SWE-agent make models write at the end of their text if the provider does not support tool
 * calls: `<function=name><parameter=key>value</parameter></function>`. Returns the text before the call, and the call; `undefined`
 * unless the text ends with exactly one call, which the agents require too.
 */
export function readXmlFunctionCall(text: string): readonly ContentBlock[] | undefined {
  const start = text.indexOf('<function=');
  const nameEnd = text.indexOf('>', start);
  const end = text.trimEnd();
  if (start === -1 || nameEnd === -1 || !end.endsWith('</function>')) return undefined;
  const name = text.slice(start + '<function='.length, nameEnd).trim();
  const body = end.slice(nameEnd + 1, -'</function>'.length);
  // A value may contain the markers, but a closed call followed by another one is a second call.
  const hasSecondCall = /<\/function>\s*<function=/.test(body);
  if (!/^[\w.-]+$/.test(name) || hasSecondCall) return undefined;
  return [
    { type: 'text', text: text.slice(0, start).trimEnd() },
    { type: 'tool_call', id: '', name, parameters: readParameters(body) },
  ];
}

function readParameters(body: string): Readonly<Record<string, string>> {
  const parameters: [string, string][] = [];
  let at = 0;
  for (;;) {
    const start = body.indexOf('<parameter=', at);
    const nameEnd = start === -1 ? -1 : body.indexOf('>', start);
    if (nameEnd === -1) break;
    const close = body.indexOf('</parameter>', nameEnd);
    const end = close === -1 ? body.length : close;
    const key = body.slice(start + '<parameter='.length, nameEnd).trim();
    // Multi-line values are surrounded by line breaks.
    parameters.push([key, body.slice(nameEnd + 1, end).replace(/^\r?\n|\r?\n$/g, '')]);
    at = end + 1;
  }
  return Object.fromEntries(parameters);
}
