// Reads Codex's rollout files (`~/.codex/sessions/**/rollout-*.jsonl`): items of OpenAI's Responses
// API wrapped in `response_item` records, or bare in files of before September 2025 and in requests to the API.

import { runsCommands, searches } from '../../shared/tool-catalog.js';
import { readOpenAiContent } from './chat-reader.js';
import type { Format, PlacedRecord, RecordReader } from './format.js';
import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';
import {
  asArray,
  asFilledText,
  asRecord,
  asText,
  errorLine,
  parseArguments,
  textOfParts,
  tryParseJson,
  type JsonRecord,
} from '../../shared/json.js';
import { wordList, wordSet } from '../../shared/word-lists.js';
import { timeOf } from './timestamp.js';

/** Envelopes that hold no messages. */
const STATE = wordSet(
  'dynamic_tools_updated inter_agent_communication_metadata security_risk_score token_usage_record world_state',
);

const ENVELOPES: ReadonlySet<string> = new Set([
  ...wordList('response_item event_msg session_meta turn_context compacted'),
  ...STATE,
]);

const CALLS = wordSet('function_call custom_tool_call local_shell_call');
const OUTPUTS = wordSet('function_call_output custom_tool_call_output');
const ITEMS: ReadonlySet<string> = new Set([
  ...wordList('message reasoning web_search_call'),
  ...CALLS,
  ...OUTPUTS,
]);

/** Items that hold no messages. */
const BOOKKEEPING = wordSet(
  'compaction compaction_trigger configuration_update context_compaction ghost_snapshot',
);

function isCodexRecord(record: JsonRecord): boolean {
  const type = asText(record['type']) ?? '';
  if (asRecord(record['payload']) !== undefined) return ENVELOPES.has(type);
  if (type === 'message')
    return typeof record['role'] === 'string' && Array.isArray(record['content']);
  return ITEMS.has(type) && (typeof record['call_id'] === 'string' || type === 'reasoning');
}

interface RecordedItem extends PlacedRecord {
  readonly time: RecordedMetadata;
}

class CodexReader implements RecordReader {
  readonly #history: HistoryAssembler;
  /** Key of the current model message; changes with every record that does not belong to one. */
  #message = 0;
  #webSearches = 0;
  #model: string | undefined;
  /** Ids of `apply_patch` calls, and whether a record reports that the patch failed. */
  readonly #patches = new Map<string, boolean>();
  /** The items of the current context, for rollbacks. */
  #items: RecordedItem[] = [];

  constructor(history: HistoryAssembler) {
    this.#history = history;
  }

  read(record: JsonRecord): void {
    const type = asText(record['type']) ?? '';
    const payload = asRecord(record['payload']);
    const time = timeOf(record);
    if (payload === undefined) {
      if (ENVELOPES.has(type)) {
        this.#history.warn(`A ${type} record without a payload was left out.`);
      } else if (ITEMS.has(typeOf(record))) this.#readItem(record, time);
      // Bare files begin with a record without a type, and mark state records by `record_type`.
      else if (record['type'] !== undefined)
        this.#history.tallyLeftOut('records of the unknown type', type);
      return;
    }
    if (type === 'response_item') this.#readItem(payload, time);
    else if (type === 'event_msg') this.#readEvent(payload);
    else if (type === 'compacted') this.#readCompaction(payload, time);
    else if (type === 'session_meta' || type === 'turn_context') {
      this.#history.setWorkspaceRoot(asText(payload['cwd']));
      if (type === 'turn_context') this.#model = asText(payload['model']) ?? this.#model;
    } else if (!STATE.has(type)) this.#history.tallyLeftOut('records of the unknown type', type);
  }

  #readItem(item: JsonRecord, time: RecordedMetadata): void {
    this.#items.push({ record: item, time, place: this.#history.place });
    const type = typeOf(item);
    if (type === 'message') this.#readMessage(item, time);
    else if (type === 'reasoning') this.#addModel([this.#readReasoning(item)], time);
    else if (type === 'web_search_call') this.#readWebSearch(item, time);
    else if (CALLS.has(type)) this.#readCall(item, type, time);
    else if (OUTPUTS.has(type)) this.#readOutput(item, time);
    else if (!BOOKKEEPING.has(type))
      this.#history.tallyLeftOut('response items of the unknown type', type);
  }

  #readMessage(item: JsonRecord, time: RecordedMetadata): void {
    const role = asText(item['role']);
    const content = item['content'];
    if (role === undefined || content === undefined || content === null) {
      this.#history.warn('A message without a role or content was left out.');
      return;
    }
    const blocks = readOpenAiContent(content, this.#history);
    if (role === 'assistant') {
      this.#addModel(blocks, { ...time, id: asText(item['id']) });
    } else {
      this.#message += 1;
      this.#history.addHuman(blocks, role === 'user' ? time : { ...time, synthetic: true });
    }
  }

  #readReasoning(item: JsonRecord): ContentBlock {
    const texts = [item['summary'], item['content']]
      .flatMap((content) => readOpenAiContent(content, this.#history))
      .flatMap((block) => (block.type === 'text' ? block.text : []));
    return thinkingBlock(texts.join('\n'), { encryptedContent: asText(item['encrypted_content']) });
  }

  #readCall(item: JsonRecord, type: string, time: RecordedMetadata): void {
    const name = type === 'local_shell_call' ? 'local_shell' : (asText(item['name']) ?? '');
    const id = asFilledText(item['call_id']) ?? asText(item['id']) ?? '';
    if (name === 'apply_patch') {
      this.#patches.set(id, this.#patches.get(id) === true || item['success'] === false);
    }
    const parameters = parametersOf(item, type);
    this.#addModel([{ type: 'tool_call', id, name, parameters }], time);
  }

  #readOutput(item: JsonRecord, time: RecordedMetadata): void {
    this.#message += 1;
    const callId = asFilledText(item['call_id']);
    if (callId === undefined) {
      this.#history.warn('A tool output without a call_id was left out.');
      return;
    }
    const output = item['output'];
    const result = textOfParts(output) ?? asText(asRecord(output)?.['content']) ?? output ?? '';
    const hasFailed = reportsFailure(item) || this.#hasPatchFailed(callId, result);
    const error = hasFailed ? errorLine(result) : undefined;
    this.#history.addResponse({ callId, result, error }, time);
  }

  /** Whether a call is a patch that failed, which must not count as a write. Exit codes of shell commands are ignored. */
  #hasPatchFailed(callId: string, result: unknown): boolean {
    const isKnownFailure = this.#patches.get(callId);
    if (isKnownFailure === undefined) return false;
    if (isKnownFailure || typeof result !== 'string') return isKnownFailure;
    const exitCode = asRecord(asRecord(tryParseJson(result))?.['metadata'])?.['exit_code'];
    if (typeof exitCode === 'number') return exitCode !== 0;
    return /^Exit code: (?!0\b)/.test(result) || /^apply_patch verification failed/.test(result);
  }

  /** Reads a web search that the provider ran. Its output is not recorded, so its status becomes the result of the call. */
  #readWebSearch(item: JsonRecord, time: RecordedMetadata): void {
    this.#webSearches += 1;
    const id = asFilledText(item['id']) ?? `web-search-${this.#webSearches}`;
    const parameters = item['action'] ?? {};
    this.#addModel([{ type: 'tool_call', id, name: 'web_search', parameters }], time);
    const result = { status: asText(item['status']) ?? 'completed' };
    this.#history.addResponse({ callId: id, result }, time);
  }

  #readEvent(event: JsonRecord): void {
    if (event['type'] === 'patch_apply_end') {
      const callId = asText(event['call_id']) ?? '';
      if (event['success'] === false && this.#patches.has(callId)) this.#patches.set(callId, true);
    } else if (event['type'] === 'token_count') {
      const usage = asRecord(asRecord(event['info'])?.['last_token_usage']);
      if (usage !== undefined) this.#history.amend({ usage });
    } else if (event['type'] === 'thread_rolled_back') this.#rollBack(Number(event['num_turns']));
  }

  /** Rolls back the user's last turns: begins a context with the items before them. */
  #rollBack(turns: number): void {
    const prompts = this.#items.flatMap(({ record }, at) => (isPrompt(record) ? [at] : []));
    const first = prompts[Math.max(0, prompts.length - turns)];
    if (first !== undefined) this.#beginContext(this.#items.slice(0, first));
  }

  #beginContext(kept: readonly RecordedItem[]): void {
    this.#history.beginContext();
    this.#items = [];
    const { place } = this.#history;
    for (const { record, time, place: recorded } of kept) {
      this.#history.place = recorded;
      this.#readItem(record, { ...time, isKept: true });
    }
    this.#history.place = place;
    this.#message += 1;
  }

  /** Reads the list of items that replaced the history. Older versions recorded only the summary. */
  #readCompaction(payload: JsonRecord, time: RecordedMetadata): void {
    const { place } = this.#history;
    const kept = asArray(payload['replacement_history']).map(asRecord);
    const items = kept.filter((record) => record !== undefined);
    this.#history.tally(
      'items of compactions that are no objects left out',
      kept.length - items.length,
    );
    this.#beginContext(items.map((record) => ({ record, time, place })));
    const text = asText(payload['message']) ?? '';
    if (kept.length > 0) return;
    this.#history.addHuman([{ type: 'text', text }], { ...time, isSummary: true });
  }

  #addModel(blocks: readonly ContentBlock[], metadata: RecordedMetadata): void {
    const key = `message-${this.#message}`;
    this.#history.addAi(blocks, { ...metadata, model: this.#model }, key);
  }
}

/** Requests may leave out the type of messages. */
function typeOf(item: JsonRecord): string {
  return asText(item['type']) ?? (typeof item['role'] === 'string' ? 'message' : '');
}

function parametersOf(call: JsonRecord, type: string): unknown {
  if (type === 'function_call') return parseArguments(call['arguments']);
  if (type === 'local_shell_call') return call['action'] ?? {};
  const { input } = call;
  return typeof input === 'string' ? { input } : (input ?? {});
}

/** Whether the user entered an item. User messages that the agent wrote itself begin with a tag or a title. */
function isPrompt(item: JsonRecord): boolean {
  if (typeOf(item) !== 'message' || item['role'] !== 'user') return false;
  return !/^\s*(?:<[a-z_]+>|# AGENTS\.md )/.test(textOfParts(item['content']) ?? '');
}

function reportsFailure(item: JsonRecord): boolean {
  return item['success'] === false || asRecord(item['output'])?.['success'] === false;
}

/** Sessions of Codex, and lists of items of the Responses API. */
export const CODEX: Format<'codex'> = {
  name: 'codex',
  // Keys were taken from recorded sessions.
  toolCatalog: {
    apply_patch: [{ access: 'write', extent: 'part', patchKeys: ['input', 'patch'] }],
    shell: runsCommands(),
    shell_command: runsCommands(),
    local_shell: runsCommands(),
    'container.exec': runsCommands(),
    exec_command: runsCommands(),
    write_stdin: runsCommands(['chars']),
    // Codex's `exec` runs a script that calls the other tools.
    exec: runsCommands(['input']),
    web_search: searches(),
    request_user_input: [{ access: 'ask' }],
  },
  detectRecord: isCodexRecord,
  document: {
    // A list with messages only may belong to another API.
    detect: (_, messages) =>
      messages.some((item) => {
        const record = asRecord(item);
        return record !== undefined && record['type'] !== 'message' && isCodexRecord(record);
      }),
    lists: ['input', 'items', 'output'],
  },
  open: (history) => new CodexReader(history),
};
