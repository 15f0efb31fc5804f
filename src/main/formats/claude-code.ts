// Reads the sessions of Claude Code (`~/.claude/projects/**/*.jsonl`). A model message is spread over
// several lines with the same `message.id`; tool responses may come in between. Buffers one context, because the session may go
// back to an earlier message.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { Format, RecordReader } from './format.js';
import { addAnthropicMessage } from './anthropic-content.js';
import { ClaudeBranch } from './claude-branch.js';
import type { BranchMessage } from './claude-branch.js';
import { ABANDONED_BRANCH } from './history-assembler.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';
import { asRecord, asText, type JsonRecord } from '../../shared/json.js';
import { wordSet } from '../../shared/word-lists.js';
import { timeOf } from './timestamp.js';

/** Record types that hold no messages. */
const BOOKKEEPING = wordSet(
  'agent-name ai-title custom-title file-history-snapshot last-prompt mode permission-mode pr-link progress queue-operation result ' +
    'stream_event summary system tag',
);

function isClaudeCodeRecord(record: JsonRecord): boolean {
  const type = asText(record['type']);
  const message = asRecord(record['message']);
  // Qwen Code writes messages of Gemini's API, and its own notes, into records like these.
  if (Array.isArray(message?.['parts']) || 'systemPayload' in record) return false;
  if (type === 'user' || type === 'assistant') {
    return message !== undefined && hasSessionKey(record);
  }
  return type !== undefined && BOOKKEEPING.has(type) && hasSessionKey(record);
}

function hasSessionKey(record: JsonRecord): boolean {
  return ['uuid', 'sessionId', 'session_id', 'leafUuid', 'messageId'].some(
    (key) => typeof record[key] === 'string',
  );
}

const SIDECHAIN = 'records of subagents (isSidechain) left out';

class ClaudeCodeReader implements RecordReader {
  readonly #history: HistoryAssembler;
  readonly #uuids = new Set<string>();
  readonly #branch = new ClaudeBranch();
  #hasMainRecord = false;
  /** Whether a context has begun and is still empty. */
  #isContextNew = false;
  /**
   * Records of subagents before the first one of the main conversation. If none follows, the file is
   * that subagent's own. Files that begin like this are short.
   */
  #sidechain: BranchMessage[] = [];

  constructor(history: HistoryAssembler) {
    this.#history = history;
  }

  read(record: JsonRecord): void {
    const { place } = this.#history;
    this.#history.setWorkspaceRoot(asText(record['cwd']));
    const type = asText(record['type']) ?? '';
    if (type === 'attachment') {
      this.#readAttachment(record);
      return;
    }
    if (type !== 'user' && type !== 'assistant') {
      if (record['subtype'] === 'compact_boundary') this.#beginContext(record);
      else this.#branch.link(record);
      if (!BOOKKEEPING.has(type)) {
        this.#history.tallyLeftOut('records of the unknown type', type);
      }
      return;
    }
    const uuid = asText(record['uuid']);
    if (uuid !== undefined) {
      if (this.#uuids.has(uuid)) return;
      this.#uuids.add(uuid);
    }
    const isSidechain =
      record['isSidechain'] === true || typeof record['parent_tool_use_id'] === 'string';
    if (!isSidechain) {
      this.#dropSidechain();
      this.#take(record, type);
    } else if (this.#hasMainRecord) this.#history.tally(SIDECHAIN);
    else this.#sidechain.push({ record, role: type, place });
  }

  finish(): void {
    for (const message of this.#sidechain) this.#readMessage(message);
    this.#endBranch();
  }

  #endBranch(boundary?: JsonRecord): void {
    const { messages, abandoned } = this.#branch.end(boundary);
    for (const message of messages) this.#readMessage(message);
    this.#history.tally(ABANDONED_BRANCH, abandoned);
  }

  /** Begins a context, unless one has just begun: a compaction's boundary and its summary are separate records. */
  #beginContext(boundary?: JsonRecord): void {
    if (this.#isContextNew) return;
    this.#endBranch(boundary);
    this.#history.beginContext();
    this.#isContextNew = true;
  }

  #take({ toolUseResult: _, ...record }: JsonRecord, role: BranchMessage['role']): void {
    const message = { record, role, place: this.#history.place };
    if (record['isCompactSummary'] === true || this.#branch.startsConversation(message)) {
      this.#beginContext();
    }
    this.#isContextNew = false;
    this.#branch.add(message);
  }

  /** Reads a message that the user queued, the only kind of attachment that is read. */
  #readAttachment(record: JsonRecord): void {
    const attachment = asRecord(record['attachment']);
    const type = asText(attachment?.['type']) ?? '';
    if (type !== 'queued_command' || record['isSidechain'] === true) {
      this.#history.tallyLeftOut('attachments of the type', type);
      this.#branch.link(record);
      return;
    }
    const message = { content: attachment?.['prompt'] };
    this.#take({ ...record, message }, 'user');
  }

  #dropSidechain(): void {
    this.#hasMainRecord = true;
    this.#history.tally(SIDECHAIN, this.#sidechain.length);
    this.#sidechain = [];
  }

  #readMessage({ record, role, place, isKept = false }: BranchMessage): void {
    this.#history.place = place;
    const message = asRecord(record['message']);
    if (message === undefined) {
      this.#history.warn(`A ${role} record without a message was left out.`);
      return;
    }
    const metadata = {
      ...(role === 'user' ? userMetadata(record) : modelMetadata(record, message)),
      ...(isKept && { isKept }),
    };
    const { content } = message;
    const [time, key] = [timeOf(record), asText(message['id'])];
    addAnthropicMessage({ content, role, metadata, time, key }, this.#history);
  }
}

function userMetadata(record: JsonRecord): RecordedMetadata {
  return {
    ...timeOf(record),
    id: asText(record['uuid']),
    ...(record['isMeta'] === true && { synthetic: true }),
    ...(record['isCompactSummary'] === true && { isSummary: true }),
  };
}

/** Returns the metadata of a model message. The model name `<synthetic>` marks texts of the harness itself, such as API errors. */
function modelMetadata(record: JsonRecord, message: JsonRecord): RecordedMetadata {
  const model = asText(message['model']);
  const isSynthetic = model === '<synthetic>' || record['isApiErrorMessage'] === true;
  return {
    ...timeOf(record),
    id: asText(message['id']),
    model,
    usage: asRecord(message['usage']),
    ...(isSynthetic && { synthetic: true }),
  };
}

/** Sessions of Claude Code. */
export const CLAUDE_CODE: Format<'claude-code'> = {
  name: 'claude-code',
  // Keys were taken from recorded sessions.
  toolCatalog: {
    Read: readsFile('whole', ['file_path'], { first: 'offset', count: 'limit' }),
    Write: writesFile('whole', ['file_path']),
    Edit: writesFile('part', ['file_path']),
    MultiEdit: writesFile('part', ['file_path']),
    NotebookRead: readsFile('whole', ['notebook_path']),
    NotebookEdit: writesFile('part', ['notebook_path']),
    Bash: runsCommands(),
    BashOutput: runsCommands(),
    TaskOutput: runsCommands(),
    Glob: searches(),
    Grep: searches(),
    LS: searches(),
    WebSearch: searches(),
    AskUserQuestion: [{ access: 'ask' }],
    ExitPlanMode: [{ access: 'ask' }],
    Skill: [{ access: 'instruct' }],
  },
  detectRecord: isClaudeCodeRecord,
  open: (history) => new ClaudeCodeReader(history),
};
