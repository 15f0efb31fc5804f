// Reads SWE-agent's trajectories (`*.traj`): a history of messages in which the assistant either calls
// tools or writes one command, which the next message answers; without a history, the list of steps.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import { EDITOR_TOOL } from './editor-tool.js';
import type { Format, RecordReader } from './format.js';
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

function isSweAgentTrajectory({ history, trajectory }: JsonRecord): boolean {
  if (Array.isArray(trajectory)) return true;
  // Other agents, such as Continue, wrap each message of their history in an object.
  return Array.isArray(history) && !history.some((item) => asRecord(asRecord(item)?.['message']));
}

/** Returns the working directory of the first step. */
function sweAgentWorkspaceRoot(document: JsonRecord): string | undefined {
  const state = asRecord(asArray(document['trajectory'])[0])?.['state'];
  const parsed = typeof state === 'string' ? tryParseJson(state) : state;
  return asFilledText(asRecord(parsed)?.['working_dir']);
}

/** Creates a reader for the messages of a history and for the steps of a trajectory. */
function createSweAgentReader(history: HistoryAssembler): RecordReader {
  const reader = new ChatReader(history, new CommandDialect());
  return {
    read: (message) => {
      if (message['role'] !== undefined || message['action'] === undefined) {
        reader.read(message);
        return;
      }
      const content = asText(message['response']) ?? asText(message['thought']) ?? '';
      reader.read({ ...message, role: 'assistant', content });
      const observation = asText(message['observation']);
      if (observation !== undefined) reader.read({ role: 'user', content: observation });
    },
  };
}

/** Commands whose first argument is a file. */
const PATH_COMMANDS: ReadonlySet<string> = new Set(['open', 'create']);

/** Commands that change the open file. */
const EDIT_COMMANDS: ReadonlySet<string> = new Set(['edit', 'insert', 'append']);

const PLAIN_COMMAND = /^[A-Za-z0-9_.-]{1,40}$/;

class CommandDialect implements ChatDialect {
  #openFile: string | undefined;

  readonly readTextCall: NonNullable<ChatDialect['readTextCall']> = (message, text) => {
    const action = asFilledText(message['action']);
    if (action === undefined) return undefined;
    const [first = '', ...words] = firstWords(action);
    if (first === '') return undefined;
    // Reports show tool names, so anything but a plain name becomes `bash`: a shell command may contain anything.
    const name = PLAIN_COMMAND.test(first) ? first : 'bash';
    return [
      { type: 'text', text: asText(message['thought']) ?? text },
      { type: 'tool_call', id: '', name, parameters: this.#parameters(name, action, words) },
    ];
  };

  /** Tracks the open file, which is named in the state at the end of an observation. */
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
      // The same parameters as the tool of the same name has, so that one catalog entry fits both.
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

/** Returns the first three words of a command's first line, without quotes. */
function firstWords(action: string): readonly string[] {
  const line = action.trimStart().slice(0, 4096).split(/\r?\n/, 1)[0] ?? '';
  const words = line.match(/"[^"]*"|'[^']*'|\S+/g) ?? [];
  return words.slice(0, 3).map((word) => word.replace(/^(["'])(.*)\1$/, '$2'));
}

/** Trajectories of SWE-agent. */
export const SWE_AGENT: Format<'swe-agent'> = {
  name: 'swe-agent',
  // Keys were taken from recorded sessions.
  toolCatalog: {
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
  },
  document: { detect: isSweAgentTrajectory, lists: ['history', 'trajectory', 'messages'] },
  open: (history, document = {}) => {
    history.setWorkspaceRoot(sweAgentWorkspaceRoot(document));
    return createSweAgentReader(history);
  },
};
