// Reads SWE-agent's trajectories (`*.traj`): a history of messages whose assistant either calls tools
// or writes one command, which the next message answers; or, without a history, the steps themselves.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import { EDITOR_TOOL } from './editor-tool.js';
import type { DocumentFormat, RecordReader } from './format.js';
import type { ContentBlock } from '../../shared/content.js';
import { ChatReader, type ChatDialect } from './chat-reader.js';
import type { HistoryAssembler } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  tryParseJson,
  type JsonRecord,
} from '../../shared/json.js';

/** Whether a document is a trajectory of SWE-agent. */
function isSweAgentTrajectory(document: JsonRecord): boolean {
  return Array.isArray(document['history']) || Array.isArray(document['trajectory']);
}

/** The directory that the first step worked in. */
function sweAgentWorkspaceRoot(document: JsonRecord): string | undefined {
  const state = asRecord(asArray(document['trajectory'])[0])?.['state'];
  const parsed = typeof state === 'string' ? tryParseJson(state) : state;
  return asFilledText(asRecord(parsed)?.['working_dir']);
}

/** Makes the reader of a history's messages; it takes the steps of a trajectory too. */
function createSweAgentReader(history: HistoryAssembler): RecordReader {
  const reader = new ChatReader(history, new CommandDialect());
  return {
    read: (message, place) => {
      if (message['role'] !== undefined || message['action'] === undefined) {
        reader.read(message, place);
        return;
      }
      const content = asText(message['response']) ?? asText(message['thought']) ?? '';
      reader.read({ ...message, role: 'assistant', content }, place);
      const observation = asText(message['observation']);
      if (observation !== undefined) reader.read({ role: 'user', content: observation }, place);
    },
  };
}

/** Commands whose first argument is a file. */
const PATH_COMMANDS: ReadonlySet<string> = new Set(['open', 'create']);

/** Commands that change the file which is open. */
const EDIT_COMMANDS: ReadonlySet<string> = new Set(['edit', 'insert', 'append']);

const PLAIN_COMMAND = /^[A-Za-z0-9_.-]{1,40}$/;

class CommandDialect implements ChatDialect {
  #openFile: string | undefined;

  readonly readTextCall = (
    message: JsonRecord,
    text: string,
  ): readonly ContentBlock[] | undefined => {
    const action = asFilledText(message['action']);
    if (action === undefined) return undefined;
    const [first = '', ...words] = firstWords(action);
    if (first === '') return undefined;
    // Reports show names of tools: what is no plain name is a line for the shell, and may say anything.
    const name = PLAIN_COMMAND.test(first) ? first : 'bash';
    return [
      { type: 'text', text: asText(message['thought']) ?? text },
      { type: 'tool_call', id: '', name, parameters: this.#parameters(name, action, words) },
    ];
  };

  /** Observations end with the state of the special interface, the open file included. */
  readonly onObservation = (text: string): void => {
    const state = /\(Open file: ([^\n]*)\)\s*\n\(Current directory:/.exec(text.slice(-4096));
    if (state !== null) this.#openFile = state[1] === 'n/a' ? undefined : state[1];
  };

  #parameters(
    name: string,
    action: string,
    words: readonly string[],
  ): Readonly<Record<string, string>> {
    const command = action.trimEnd();
    const [first, second] = words;
    if (name === 'str_replace_editor' && first !== undefined) {
      // As the tool of that name takes them, so that one catalog serves both.
      return { command: first, ...(second !== undefined && { path: second }), text: command };
    }
    const path = PATH_COMMANDS.has(name)
      ? first
      : EDIT_COMMANDS.has(name)
        ? this.#openFile
        : undefined;
    return { command, ...(path !== undefined && { path }) };
  }
}

/** The first three words of a command's first line, quotes taken off. */
function firstWords(action: string): readonly string[] {
  const line = action.trimStart().slice(0, 4096).split(/\r?\n/, 1)[0] ?? '';
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.slice(0, 3).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

/** What SWE-agent's tools do; keys were taken from recorded sessions. */
const TOOLS: ToolCatalog = {
  open: readsFile('part', ['path']),
  create: writesFile('whole', ['path', 'filename']),
  edit: writesFile('part', ['path']),
  insert: writesFile('part', ['path']),
  append: writesFile('part', ['path']),
  str_replace_editor: EDITOR_TOOL,
  bash: runsCommands(),
  search_dir: searches(),
  search_file: searches(),
  find_file: searches(),
};

/** Trajectories of SWE-agent. */
export const SWE_AGENT: DocumentFormat<'swe-agent'> = {
  name: 'swe-agent',
  toolCatalog: TOOLS,
  detectDocument: isSweAgentTrajectory,
  lists: ['history', 'trajectory', 'messages'],
  open: (history, document) => {
    history.setWorkspaceRoot(sweAgentWorkspaceRoot(document));
    return createSweAgentReader(history);
  },
};
