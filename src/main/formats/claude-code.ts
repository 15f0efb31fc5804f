// Reads the JSON Lines that Claude Code keeps of a session (`~/.claude/projects/**/*.jsonl`). One
// model message is spread over several lines with the same `message.id`; answers may stand between.

import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { ToolCatalog } from '../../shared/tool-catalog.js';
import type { LineFormat, RecordReader } from './format.js';
import { shownText } from '../../shared/shown-text.js';
import type { ContentMetadata } from '../../shared/content.js';
import { readAnthropicContent } from './anthropic-content.js';
import type { HistoryAssembler } from './history-assembler.js';
import { asRecord, asText, withoutUndefined, type JsonRecord } from '../../shared/json.js';
import { asTimestamp } from './timestamp.js';
import type { TranscriptPlace } from './transcript.js';

/** Record types that are bookkeeping, not conversation. */
const BOOKKEEPING: ReadonlySet<string> = new Set([
  'agent-name',
  'ai-title',
  'custom-title',
  'file-history-snapshot',
  'last-prompt',
  'mode',
  'permission-mode',
  'pr-link',
  'progress',
  'queue-operation',
  'result',
  'stream_event',
  'summary',
  'system',
  'tag',
]);

/** Whether a record is one of Claude Code's. */
function isClaudeCodeRecord(record: JsonRecord): boolean {
  const type = asText(record['type']);
  if (type === 'user' || type === 'assistant') {
    return asRecord(record['message']) !== undefined && hasSessionKey(record);
  }
  return type !== undefined && BOOKKEEPING.has(type) && hasSessionKey(record);
}

function hasSessionKey(record: JsonRecord): boolean {
  return ['uuid', 'sessionId', 'session_id', 'leafUuid', 'messageId'].some(
    (key) => typeof record[key] === 'string',
  );
}

/** Reads a session record by record. */
class ClaudeCodeReader implements RecordReader {
  readonly #history: HistoryAssembler;
  readonly #uuids = new Set<string>();
  #hasMainRecord = false;
  /** Whether nothing has been added since a context began. */
  #isContextNew = false;
  /**
   * Records of subagents that were seen before any of the main conversation: whether they belong to
   * another conversation or are this file's own shows only later. Files that begin so are short.
   */
  #sidechain: { readonly record: JsonRecord; readonly place: TranscriptPlace }[] = [];

  constructor(history: HistoryAssembler) {
    this.#history = history;
  }

  read(record: JsonRecord, place: TranscriptPlace): void {
    this.#history.setWorkspaceRoot(asText(record['cwd']));
    const type = asText(record['type']) ?? '';
    if (type === 'attachment') {
      this.#readAttachment(record, place);
      return;
    }
    if (type !== 'user' && type !== 'assistant') {
      if (record['subtype'] === 'compact_boundary') this.#beginContext();
      else if (!BOOKKEEPING.has(type)) {
        this.#history.tally(`records of the unknown type ${shownText(type)} left out`);
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
      this.#readMessage(record, type, place);
    } else if (this.#hasMainRecord) this.#tallySidechain();
    else this.#sidechain.push({ record, place });
  }

  finish(): void {
    for (const { record, place } of this.#sidechain) {
      this.#readMessage(record, record['type'] === 'user' ? 'user' : 'assistant', place);
    }
  }

  /** The summary that follows belongs to the context that has just begun. */
  #beginContext(): void {
    if (!this.#isContextNew) this.#history.beginContext();
    this.#isContextNew = true;
  }

  /** Of what the harness attaches, a message that the user had queued is one like any other. */
  #readAttachment(record: JsonRecord, place: TranscriptPlace): void {
    const attachment = asRecord(record['attachment']);
    const type = asText(attachment?.['type']) ?? '';
    if (type !== 'queued_command' || record['isSidechain'] === true) {
      this.#history.tally(`attachments of the type ${shownText(type)} left out`);
      return;
    }
    const message = { content: attachment?.['prompt'] };
    this.#readMessage({ ...record, message }, 'user', place);
  }

  #dropSidechain(): void {
    this.#hasMainRecord = true;
    for (const _ of this.#sidechain) this.#tallySidechain();
    this.#sidechain = [];
  }

  #tallySidechain(): void {
    this.#history.tally('records of subagents (isSidechain) left out');
  }

  #readMessage(record: JsonRecord, role: 'user' | 'assistant', place: TranscriptPlace): void {
    const message = asRecord(record['message']);
    if (message === undefined) {
      this.#history.warn(`A ${role} record without a message was left out.`, place);
      return;
    }
    if (record['isCompactSummary'] === true) this.#beginContext();
    this.#isContextNew = false;
    const { blocks, responses } = readAnthropicContent(
      message['content'],
      role,
      this.#history,
      place,
    );
    const metadata = role === 'user' ? userMetadata(record) : modelMetadata(record, message);
    if (role === 'assistant') this.#history.addAi(blocks, metadata, asText(message['id']));
    for (const response of responses) {
      this.#history.addResponse(response, place, timeOf(record));
    }
    if (role === 'user') this.#history.addHuman(blocks, metadata);
  }
}

function timeOf(record: JsonRecord): ContentMetadata {
  return withoutUndefined({ timestamp: asTimestamp(record['timestamp']) });
}

function userMetadata(record: JsonRecord): ContentMetadata {
  return {
    ...timeOf(record),
    ...withoutUndefined({ id: asText(record['uuid']) }),
    ...(record['isMeta'] === true && { synthetic: true }),
    ...(record['isCompactSummary'] === true && { isSummary: true }),
  };
}

/** `<synthetic>` stands for texts of the harness itself, such as API errors. */
function modelMetadata(record: JsonRecord, message: JsonRecord): ContentMetadata {
  const model = asText(message['model']);
  const isSynthetic = model === '<synthetic>' || record['isApiErrorMessage'] === true;
  return {
    ...timeOf(record),
    ...withoutUndefined({
      id: asText(message['id']),
      model,
      usage: asRecord(message['usage']),
    }),
    ...(isSynthetic && { synthetic: true }),
  };
}

/** What Claude Code's tools do; keys were taken from recorded sessions. */
const TOOLS: ToolCatalog = {
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
  WebFetch: searches(),
  WebSearch: searches(),
};

/** Sessions of Claude Code. */
export const CLAUDE_CODE: LineFormat<'claude-code'> = {
  name: 'claude-code',
  toolCatalog: TOOLS,
  detectRecord: isClaudeCodeRecord,
  open: (history) => new ClaudeCodeReader(history),
};
