// What density passes need to know of a history, without its payloads. Fed entry by entry, each of
// them once; a pass then scans the columns, which costs far less than the walk that filled them.

import type { IContent, ToolCallBlock, ToolResponseBlock } from '../content.js';
import { PRUNED_POINTER } from '../density.js';
import type { DensityConfig, InclusionSyntax } from '../density.js';
import { DEFAULT_TOOL_CATALOG } from '../tool-catalog.js';
import type { ToolUse } from '../tool-catalog.js';
import { findInclusions } from './file-inclusions.js';
import {
  CALL_ACCESS,
  CallColumns,
  InclusionColumns,
  NONE,
  RESPONSE_FLAG,
  ResponseColumns,
} from './history-columns.js';
import { OpenCalls } from './open-calls.js';
import { PathTable } from './path-table.js';
import { fileAccess } from './tool-paths.js';

/** The index of one history under one configuration. It keeps what the enabled phases need, and no more. */
export class HistoryIndex {
  readonly calls: CallColumns = new CallColumns();
  readonly responses: ResponseColumns = new ResponseColumns();
  readonly inclusions: InclusionColumns = new InclusionColumns();

  readonly #paths: PathTable;
  readonly #uses: ReadonlyMap<string, readonly ToolUse[]>;
  readonly #syntaxes: readonly InclusionSyntax[];
  readonly #tools = new Map<string, number>();
  readonly #openCalls = new OpenCalls();
  readonly #indexesCalls: boolean;
  readonly #indexesRecency: boolean;
  #length = 0;

  constructor(config: DensityConfig) {
    this.#paths = new PathTable(config.workspaceRoot);
    this.#uses = new Map(Object.entries(config.toolCatalog ?? DEFAULT_TOOL_CATALOG));
    this.#syntaxes = config.fileDedupe ? (config.inclusionSyntaxes ?? ['delimited']) : [];
    this.#indexesCalls = config.readWritePruning;
    this.#indexesRecency = config.recencyPruning;
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
    const entry = this.#length;
    this.#length += 1;
    if (speaker === 'ai' && this.#indexesCalls) {
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_call') this.#appendCall(entry, block, content);
      }
    } else if (speaker === 'tool' && (this.#indexesCalls || this.#indexesRecency)) {
      for (let block = 0; block < blocks.length; block += 1) {
        const content = blocks[block];
        if (content?.type === 'tool_response') this.#appendResponse(entry, block, content);
      }
    } else if (speaker === 'human' && this.#syntaxes.length > 0) {
      this.#appendInclusions(entry, blocks);
    }
  }

  #appendCall(entry: number, block: number, call: ToolCallBlock): void {
    const { calls } = this;
    this.#openCalls.add(call.id, calls.length);
    calls.entry.push(entry);
    calls.block.push(block);
    calls.response.push(NONE);
    calls.firstPath.push(calls.paths.length);
    const uses = this.#uses.get(call.name);
    const file = uses === undefined ? undefined : fileAccess(uses, call.parameters);
    if (file === undefined) {
      calls.access.push(CALL_ACCESS.none);
      calls.pathCount.push(0);
      return;
    }
    const write = file.extent === 'whole' ? CALL_ACCESS.writeWhole : CALL_ACCESS.writePart;
    calls.access.push(file.access === 'read' ? CALL_ACCESS.read : write);
    calls.pathCount.push(file.paths.length);
    for (const path of file.paths) calls.paths.push(this.#paths.idOf(path));
  }

  #appendResponse(entry: number, block: number, response: ToolResponseBlock): void {
    // A tool that still runs has not answered: its call stays open, its payload may yet change.
    if (response.isComplete === false) return;
    const { calls, responses } = this;
    const call = this.#openCalls.take(response.callId);
    if (call !== NONE) calls.response.set(call, responses.length);
    responses.entry.push(entry);
    responses.block.push(block);
    // Names and results lie elsewhere in memory; a phase that is off is not worth fetching them.
    const isPruned = this.#indexesRecency && response.result === PRUNED_POINTER;
    responses.tool.push(this.#indexesRecency ? this.#toolId(response.toolName) : NONE);
    responses.flags.push(
      (response.error ? RESPONSE_FLAG.failed : 0) | (isPruned ? RESPONSE_FLAG.pruned : 0),
    );
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
    for (const found of findInclusions(blocks, this.#syntaxes)) {
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
}
