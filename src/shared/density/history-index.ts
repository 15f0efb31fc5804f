// What density passes need to know of a history, without its payloads. Fed entry by entry, each of
// them once; a pass then scans the columns, which costs far less than the walk that filled them.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { PRUNED_POINTER } from '../density.js';
import { DEFAULT_TOOL_CATALOG } from '../tool-catalog.js';
import type { ToolUse } from '../tool-catalog.js';
import { findInclusions } from './file-inclusions.js';
import {
  CALL_ACCESS,
  CallColumns,
  EntryRows,
  InclusionColumns,
  NONE,
  PartialColumns,
  RESPONSE_FLAG,
  ResponseColumns,
} from './history-columns.js';
import type { IndexScope } from './index-scope.js';
import { IntColumn } from './int-column.js';
import { OpenCalls } from './open-calls.js';
import { PathTable } from './path-table.js';
import { fileAccess } from './tool-paths.js';

/** An index after its history was rewritten, and where the rows of its tables come from. */
export interface RewrittenIndex {
  readonly index: HistoryIndex;
  /** By call row, the row of the former index, or `NONE` for a call of an entry that came in. */
  readonly callSources: IntColumn;
  /** The same by response row. */
  readonly responseSources: IntColumn;
}

/** The index of one history. It keeps what its scope says, and no more. */
export class HistoryIndex {
  readonly calls: CallColumns = new CallColumns();
  readonly responses: ResponseColumns = new ResponseColumns();
  readonly partials: PartialColumns = new PartialColumns();
  readonly inclusions: InclusionColumns = new InclusionColumns();
  readonly rows: EntryRows = new EntryRows();

  readonly #scope: IndexScope;
  readonly #paths: PathTable;
  readonly #tools: Map<string, number>;
  readonly #uses: ReadonlyMap<string, readonly ToolUse[]>;
  readonly #openCalls = new OpenCalls();
  #length = 0;

  /** @param former an index whose path and tool ids go on to hold */
  constructor(scope: IndexScope, former?: HistoryIndex) {
    this.#scope = scope;
    this.#paths = former === undefined ? new PathTable(scope.workspaceRoot) : former.#paths;
    this.#tools = former === undefined ? new Map<string, number>() : former.#tools;
    this.#uses = former === undefined ? usesByTool(scope) : former.#uses;
  }

  /** Entries that were appended. */
  get length(): number {
    return this.#length;
  }

  /** Distinct files named so far; path ids are the integers below it. */
  get pathCount(): number {
    return this.#paths.size;
  }

  /** Distinct tool names of responses so far; tool ids are the integers below it. */
  get toolCount(): number {
    return this.#tools.size;
  }

  append({ speaker, blocks }: IContent): void {
    const { calls, recency, inclusionSyntaxes } = this.#scope;
    const entry = this.#beginEntry();
    if (speaker === 'ai' && calls) {
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_call') this.#appendCall(entry, block, content);
      }
    } else if (speaker === 'tool' && (calls || recency)) {
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_response') this.#appendResponse(entry, block, content);
      }
    } else if (speaker === 'human' && inclusionSyntaxes.length > 0) {
      this.#appendInclusions(entry, blocks);
    }
  }

  /**
   * Returns the index of the history that is left when entries are taken out, replaced or moved. It
   * equals one that is fed with that history from its start, but is made from the columns: calls and
   * responses are paired anew, nothing else is looked at twice. Needs a rewritable scope.
   *
   * @param sources by entry of the new history, its index in this one, or `NONE` for one that comes in
   * @param added the entries that come in, in their order
   */
  rewritten(sources: Int32Array, added: readonly IContent[]): RewrittenIndex {
    const index = new HistoryIndex(this.#scope, this);
    const callSources = new IntColumn();
    const responseSources = new IntColumn();
    let nextAdded = 0;
    for (const source of sources) {
      if (source === NONE) {
        const entry = added[nextAdded];
        if (entry !== undefined) index.append(entry);
        nextAdded += 1;
      } else {
        index.#copyEntry(this, source, callSources, responseSources);
      }
      while (callSources.length < index.calls.length) callSources.push(NONE);
      while (responseSources.length < index.responses.length) responseSources.push(NONE);
    }
    return { index, callSources, responseSources };
  }

  #beginEntry(): number {
    if (this.#scope.isRewritable) {
      this.rows.call.push(this.calls.length);
      this.rows.response.push(this.responses.length);
      this.rows.partial.push(this.partials.length);
      this.rows.inclusion.push(this.inclusions.length);
    }
    this.#length += 1;
    return this.#length - 1;
  }

  #appendCall(entry: number, block: number, call: ToolCallBlock): void {
    const uses = this.#uses.get(call.name);
    const file = uses === undefined ? undefined : fileAccess(uses, call.parameters);
    const firstPath = this.calls.paths.length;
    if (file === undefined) {
      this.#pushCall(entry, block, call.id, CALL_ACCESS.none, firstPath);
      return;
    }
    for (const path of file.paths) this.calls.paths.push(this.#paths.idOf(path));
    const write = file.extent === 'whole' ? CALL_ACCESS.writeWhole : CALL_ACCESS.writePart;
    const access = file.access === 'read' ? CALL_ACCESS.read : write;
    this.#pushCall(entry, block, call.id, access, firstPath);
  }

  /** Its paths are those pushed from `firstPath` on. */
  #pushCall(entry: number, block: number, id: string, access: number, firstPath: number): void {
    const { calls } = this;
    this.#openCalls.add(id, calls.length);
    calls.entry.push(entry);
    calls.block.push(block);
    calls.response.push(NONE);
    calls.access.push(access);
    calls.firstPath.push(firstPath);
    calls.pathCount.push(calls.paths.length - firstPath);
    if (this.#scope.isRewritable) calls.ids.push(id);
  }

  #appendResponse(entry: number, block: number, response: ToolResponseBlock): void {
    // A tool that still runs has not answered: its call stays open, its payload may yet change.
    if (response.isComplete === false) {
      if (this.#scope.isRewritable) this.#pushPartial(entry, response.callId);
      return;
    }
    // Names and results lie elsewhere in memory; a phase that is off is not worth fetching them.
    const isPruned = this.#scope.recency && response.result === PRUNED_POINTER;
    const tool = this.#scope.recency ? this.#toolId(response.toolName) : NONE;
    const flags =
      (response.error ? RESPONSE_FLAG.failed : 0) | (isPruned ? RESPONSE_FLAG.pruned : 0);
    this.#pushResponse(entry, block, response.callId, tool, flags);
  }

  #pushResponse(entry: number, block: number, id: string, tool: number, flags: number): void {
    const { calls, responses } = this;
    const call = this.#openCalls.take(id);
    if (call !== NONE) calls.response.set(call, responses.length);
    responses.entry.push(entry);
    responses.block.push(block);
    responses.tool.push(tool);
    responses.flags.push(flags);
    // The call's own string, so that the one that came with the response need not stay in memory.
    if (this.#scope.isRewritable) responses.ids.push(calls.ids[call] ?? id);
  }

  #pushPartial(entry: number, id: string): void {
    const call = this.#openCalls.take(id);
    if (call !== NONE) this.#openCalls.add(id, call);
    this.partials.entry.push(entry);
    this.partials.call.push(call);
    this.partials.ids.push(id);
  }

  #toolId(name: string): number {
    const known = this.#tools.get(name);
    if (known !== undefined) return known;
    const id = this.#tools.size;
    this.#tools.set(name, id);
    return id;
  }

  #appendInclusions(entry: number, blocks: IContent['blocks']): void {
    const { inclusions } = this;
    for (const found of findInclusions(blocks, this.#scope.inclusionSyntaxes)) {
      const isText = 'start' in found;
      inclusions.entry.push(entry);
      inclusions.block.push(found.block);
      inclusions.path.push(this.#paths.idOf(found.path));
      inclusions.start.push(isText ? found.start : NONE);
      inclusions.end.push(isText ? found.end : NONE);
      inclusions.groupOpen.push(isText ? NONE : found.group.open);
      inclusions.groupClose.push(isText ? NONE : found.group.close);
    }
  }

  #copyEntry(
    from: HistoryIndex,
    source: number,
    callSources: IntColumn,
    responseSources: IntColumn,
  ): void {
    const entry = this.#beginEntry();
    const { calls, responses, partials, inclusions, rows } = from;
    for (let row = rows.call.at(source); row < from.#endRow('call', source); row += 1) {
      const firstPath = this.calls.paths.length;
      const endPath = calls.firstPath.at(row) + calls.pathCount.at(row);
      for (let at = calls.firstPath.at(row); at < endPath; at += 1) {
        this.calls.paths.push(calls.paths.at(at));
      }
      const id = calls.ids[row] ?? '';
      this.#pushCall(entry, calls.block.at(row), id, calls.access.at(row), firstPath);
      callSources.push(row);
    }
    for (let row = rows.response.at(source); row < from.#endRow('response', source); row += 1) {
      const id = responses.ids[row] ?? '';
      const tool = responses.tool.at(row);
      this.#pushResponse(entry, responses.block.at(row), id, tool, responses.flags.at(row));
      responseSources.push(row);
    }
    for (let row = rows.partial.at(source); row < from.#endRow('partial', source); row += 1) {
      this.#pushPartial(entry, partials.ids[row] ?? '');
    }
    for (let row = rows.inclusion.at(source); row < from.#endRow('inclusion', source); row += 1) {
      this.inclusions.copyRow(inclusions, row, entry);
    }
  }

  /** The row behind the last one that an entry has in a table. */
  #endRow(table: keyof EntryRows, entry: number): number {
    const isLast = entry + 1 === this.#length;
    return isLast ? this[`${table}s`].length : this.rows[table].at(entry + 1);
  }
}

function usesByTool({ toolCatalog }: IndexScope): ReadonlyMap<string, readonly ToolUse[]> {
  return new Map(Object.entries(toolCatalog ?? DEFAULT_TOOL_CATALOG));
}
