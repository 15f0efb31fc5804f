// Reads Cline's messages: `{ messages: [...] }` of its sessions, and the bare array of
// `api_conversation_history.json`. Content blocks are Anthropic's, with file inclusions added.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { Format } from './format.js';
import { addAnthropicMessage } from './anthropic-content.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';
import { asArray, asRecord, asText, type JsonRecord } from '../../shared/json.js';
import { wordSet } from '../../shared/word-lists.js';
import { asTimestamp } from './timestamp.js';

/** Block types that OpenAI's chat API does not have. */
const OWN_BLOCKS = wordSet('file thinking redacted_thinking tool_use tool_result');

/** Whether a list of messages is Cline's rather than an OpenAI chat. */
function areClineMessages(messages: readonly unknown[]): boolean {
  return messages.some((item) => {
    const message = asRecord(item);
    if (message === undefined || typeof message['role'] !== 'string') return false;
    if (message['modelInfo'] !== undefined) return true;
    return asArray(message['content']).some((block) =>
      OWN_BLOCKS.has(asText(asRecord(block)?.['type']) ?? ''),
    );
  });
}

function readClineMessage(message: JsonRecord, history: HistoryAssembler): void {
  const role = asText(message['role']) ?? '';
  if (role !== 'user' && role !== 'assistant') {
    history.tallyLeftOut('messages of the unknown role', role);
    return;
  }
  const metadata = readMetadata(message);
  const { content } = message;
  addAnthropicMessage({ content, role, metadata, time: metadata }, history);
}

function readMetadata(message: JsonRecord): RecordedMetadata {
  const modelInfo = asRecord(message['modelInfo']);
  return {
    timestamp: asTimestamp(message['ts']),
    id: asText(message['id']),
    model: asText(modelInfo?.['id']),
    provider: asText(modelInfo?.['provider']),
    usage: asRecord(message['metrics']),
  };
}

/** Sessions of Cline. */
export const CLINE: Format<'cline'> = {
  name: 'cline',
  // Keys were taken from recorded sessions.
  toolCatalog: {
    read_file: readsFile('whole', ['path']),
    read_files: [
      { access: 'read', extent: 'part', pathListKeys: ['files'], pathListItemKey: 'path' },
    ],
    write_to_file: writesFile('whole', ['path']),
    replace_in_file: writesFile('part', ['path']),
    editor: writesFile('part', ['path']),
    execute_command: runsCommands(),
    run_commands: runsCommands(['commands', 'command']),
    search_files: searches(),
    list_files: searches(),
    list_code_definition_names: searches(),
    ask_followup_question: [{ access: 'ask' }],
    plan_mode_respond: [{ access: 'ask' }],
    attempt_completion: [{ access: 'ask' }],
    use_skill: [{ access: 'instruct' }],
  },
  document: { detect: (_, messages) => areClineMessages(messages), lists: ['messages'] },
  open: (history) => ({
    read: (message) => {
      readClineMessage(message, history);
    },
  }),
};
