// Reads the sessions of pi (`~/.pi/agent/sessions/**/*.jsonl`): a header, then entries that name their parent, so that a session can
// branch. The context is the branch that ends with the newest entry; a compaction reduces it to a summary and the entries it keeps.

import { thinkingBlock } from '../../shared/content.js';
import type { ContentBlock } from '../../shared/content.js';
import { asFilledText, asRecord, asText, errorLine, textOfParts } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { readsFile, runsCommands, searches, writesFile } from '../../shared/tool-catalog.js';
import type { Format, PlacedRecord, RecordReader } from './format.js';
import type { HistoryAssembler, RecordedMetadata } from './history-assembler.js';
import { readContent } from './content-parts.js';
import { mediaBlock } from './media.js';
import { wordSet } from '../../shared/word-lists.js';
import { timeOf } from './timestamp.js';

/** The types of entries. Those in the second line are not sent to the model. */
const ENTRIES = wordSet(
  'branch_summary compaction custom_message message ' +
    'context_edit custom label model_change session_info thinking_level_change usage',
);

/** Whether a record is pi's header, or an entry that names its parent. */
function isPiRecord(record: JsonRecord): boolean {
  const type = asText(record['type']) ?? '';
  if (type === 'session') return typeof record['cwd'] === 'string' && 'id' in record;
  if (!ENTRIES.has(type) || asText(record['timestamp']) === undefined) return false;
  // Before version 2, entries had no ids.
  return (
    'parentId' in record ||
    (type === 'message' && asRecord(record['message']) !== undefined && !hasClaudeKey(record))
  );
}

function hasClaudeKey(record: JsonRecord): boolean {
  return 'sessionId' in record || 'uuid' in record;
}

/** Reads a session of pi. Buffers all entries, because the last one decides which branch is read. */
class PiReader implements RecordReader {
  readonly #history: HistoryAssembler;
  readonly #entries: PlacedRecord[] = [];

  constructor(history: HistoryAssembler) {
    this.#history = history;
  }

  read(record: JsonRecord): void {
    const type = asText(record['type']) ?? '';
    if (type === 'session') this.#history.setWorkspaceRoot(asText(record['cwd']));
    else {
      // An entry of an unknown type may be the parent of others, so the branch needs it too.
      this.#entries.push({ record, place: this.#history.place });
      if (!ENTRIES.has(type)) this.#history.tallyLeftOut('records of the unknown type', type);
    }
  }

  finish(): void {
    const branch = this.#branch();
    for (const [at, entry] of branch.entries()) {
      if (entry.record['type'] !== 'compaction') this.#readEntry(entry);
      else this.#readCompaction(entry, branch.slice(0, at));
    }
  }

  /** Returns the branch that ends with the newest entry; all entries if they name no parents. */
  #branch(): readonly PlacedRecord[] {
    const byId = new Map(this.#entries.map((entry) => [asText(entry.record['id']), entry]));
    const last = this.#entries.findLast(({ record }) => 'parentId' in record);
    if (last === undefined) return this.#entries;
    const branch = new Set<PlacedRecord>();
    for (let entry: PlacedRecord | undefined = last; entry !== undefined && !branch.has(entry);) {
      branch.add(entry);
      entry = byId.get(asText(entry.record['parentId']) ?? '');
    }
    this.#history.tally(
      'entries of branches that the session went back from, left out',
      this.#entries.length - branch.size,
    );
    return [...branch].reverse();
  }

  #readCompaction({ record }: PlacedRecord, before: readonly PlacedRecord[]): void {
    const text = asText(record['summary']);
    const time = timeOf(record);
    this.#history.beginContext();
    if (text !== undefined) {
      this.#history.addHuman([{ type: 'text', text }], { ...time, isSummary: true });
    }
    const id = asText(record['firstKeptEntryId']);
    // Before version 2, the first kept entry was named by its index, which counts the header.
    const firstKept =
      id === undefined
        ? Number(record['firstKeptEntryIndex']) - 1
        : before.findIndex((entry) => entry.record['id'] === id);
    if (!(firstKept >= 0)) return;
    for (const kept of before.slice(firstKept)) {
      if (kept.record['type'] !== 'compaction') this.#readEntry(kept, { isKept: true });
    }
  }

  #readEntry({ record, place }: PlacedRecord, kept: RecordedMetadata = {}): void {
    this.#history.place = place;
    const type = asText(record['type']) ?? '';
    const time = { ...timeOf(record), ...kept };
    if (type === 'message') this.#readMessage(asRecord(record['message']) ?? {}, time);
    else if (type === 'branch_summary') {
      const text = asText(record['summary']) ?? '';
      this.#history.addHuman([{ type: 'text', text }], { ...time, isSummary: true });
    } else if (type === 'custom_message') {
      const blocks = this.#readContent(record['content']);
      this.#history.addHuman(blocks, { ...time, synthetic: true });
    }
  }

  #readMessage(message: JsonRecord, time: RecordedMetadata): void {
    const role = asText(message['role']) ?? '';
    const { content } = message;
    if (role === 'user') this.#history.addHuman(this.#readContent(content), time);
    else if (role === 'assistant') {
      this.#history.addAi(this.#readContent(content), {
        ...time,
        model: asText(message['model']),
        provider: asText(message['provider']),
        usage: asRecord(message['usage']),
      });
    } else if (role === 'toolResult') {
      const result = textOfParts(content) ?? content ?? '';
      const error = message['isError'] === true ? errorLine(content) : undefined;
      const callId = asFilledText(message['toolCallId']);
      this.#history.addResponse({ callId, result, error }, time);
    } else if (role === 'bashExecution') this.#readCommand(message, time);
    // Before version 3, `custom` was named `hookMessage`.
    else if (role === 'custom' || role === 'hookMessage')
      this.#history.addHuman(this.#readContent(content), { ...time, synthetic: true });
    // The system prompt and the tools are not part of a history: other agents do not record them as messages.
    else if (role !== 'system') this.#history.tallyLeftOut('messages of the unknown role', role);
  }

  #readContent(content: unknown): readonly ContentBlock[] {
    return readContent(content, this.#history, readPart);
  }

  /** Reads a command that the user ran, in the form in which it was sent to the model. */
  #readCommand(message: JsonRecord, time: RecordedMetadata): void {
    if (message['excludeFromContext'] === true) return;
    const command = asText(message['command']) ?? '';
    const output = asText(message['output']) ?? '';
    this.#history.addHuman([{ type: 'text', text: `Ran \`${command}\`\n${output}` }], time);
  }
}

/** Returns `undefined` for a part of an unknown type or without its content. */
function readPart(item: unknown, type: string): ContentBlock | undefined {
  const part = asRecord(item) ?? {};
  switch (type) {
    case 'text': {
      const text = asText(part['text']);
      return text === undefined ? undefined : { type: 'text', text };
    }
    case 'thinking': {
      const signature = asText(part['thinkingSignature']);
      return thinkingBlock(asText(part['thinking']) ?? '', { signature });
    }
    case 'image':
      return mediaBlock(asText(part['mimeType']) ?? 'image/*', part['data']);
    case 'toolCall': {
      const id = asText(part['id']) ?? '';
      const name = asText(part['name']) ?? '';
      return { type: 'tool_call', id, name, parameters: part['arguments'] ?? {} };
    }
    default:
      return undefined;
  }
}

/** Sessions of pi. */
export const PI: Format<'pi'> = {
  name: 'pi',
  toolCatalog: {
    read: readsFile('whole', ['path', 'file_path'], { first: 'offset', count: 'limit' }),
    write: writesFile('whole', ['path', 'file_path']),
    edit: writesFile('part', ['path', 'file_path']),
    bash: runsCommands(),
    grep: searches(),
    find: searches(),
    ls: searches(),
  },
  detectRecord: isPiRecord,
  open: (history) => new PiReader(history),
};
