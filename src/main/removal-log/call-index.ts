// An index of a removal log by call id: which record has a call's original response, and which one the call. Restoring and listing
// share it, because they must agree. Keeps no payloads.

import { isCompleteResponse, isToolCallBlock } from '../../shared/content.js';
import type { ToolCallBlock, ToolResponseBlock } from '../../shared/content.js';
import { pushTo } from '../../shared/lists-by-key.js';
import type { LocatedRemoval } from './removal-reader.js';
import { isInScope } from './session-scope.js';
import type { SessionScope } from './session-scope.js';
import { StandIns } from './stand-ins.js';
import type { Doubt } from './stand-ins.js';

/** What an index keeps of a call and of a response. */
export interface CallDetails<Call, Response> {
  readonly ofCall: (call: ToolCallBlock, removal: LocatedRemoval) => Call;
  readonly ofResponse: (response: ToolResponseBlock, removal: LocatedRemoval) => Response;
}

/** A record that contains a call, or a response that may be the original. */
export interface Sighting<Detail> {
  readonly sessionId: string;
  readonly toolName: string;
  readonly detail: Detail;
}

/** The original response to a call, and the call if it was recorded. */
export interface FoundCall<Call, Response> {
  readonly response: Sighting<Response>;
  readonly call: Sighting<Call> | undefined;
}

/** The calls of a log, and their responses. Records must be added in file order. */
export class CallIndex<Call, Response> {
  readonly #details: CallDetails<Call, Response>;
  readonly #standIns = new StandIns();
  readonly #calls = new Map<string, Sighting<Call>[]>();
  readonly #responses = new Map<string, (Sighting<Response> & { readonly doubt: Doubt })[]>();
  /** Interned session ids and tool names, of which every record would otherwise add its own copy. */
  readonly #names = new Map<string, string>();

  constructor(details: CallDetails<Call, Response>) {
    this.#details = details;
  }

  /** @param onlyCallId skips all other calls */
  note(removal: LocatedRemoval, onlyCallId?: string): void {
    const { record } = removal;
    const sessionId = this.#kept(record.sessionId);
    for (const block of record.entry.blocks) {
      if (isToolCallBlock(block)) {
        if (block.id !== (onlyCallId ?? block.id)) continue;
        const detail = this.#details.ofCall(block, removal);
        pushTo(this.#calls, block.id, { sessionId, toolName: this.#kept(block.name), detail });
      } else if (isCompleteResponse(block)) {
        if (block.callId !== (onlyCallId ?? block.callId)) continue;
        const doubt = this.#standIns.judge(block, record);
        if (doubt !== null) {
          const detail = this.#details.ofResponse(block, removal);
          const toolName = this.#kept(block.toolName);
          pushTo(this.#responses, block.callId, { sessionId, toolName, detail, doubt });
        }
        this.#standIns.note(block, record);
      }
    }
  }

  /** The calls of which a response is recorded. */
  get callIds(): Iterable<string> {
    return this.#responses.keys();
  }

  /** Finds the latest of the least doubtful responses in scope, and the call of the same session and tool. */
  find(callId: string, scope: SessionScope): FoundCall<Call, Response> | undefined {
    let response: Sighting<Response> | undefined;
    let leastWeight = Infinity;
    for (const candidate of this.#responses.get(callId) ?? []) {
      const { looksLikePlaceholder, isStandInElsewhere } = candidate.doubt;
      // Stand-ins of other sessions count only if all sessions are searched.
      const isDoubted = scope.acrossSessions === true && isStandInElsewhere;
      const weight = isDoubted ? 2 : Number(looksLikePlaceholder);
      if (weight > leastWeight || !isInScope(scope, candidate.sessionId)) continue;
      leastWeight = weight;
      response = candidate;
    }
    if (response === undefined) return undefined;
    const { sessionId, toolName } = response;
    const call = this.#calls
      .get(callId)
      ?.findLast((each) => each.sessionId === sessionId && each.toolName === toolName);
    return { response, call };
  }

  #kept(name: string): string {
    const kept = this.#names.get(name);
    if (kept !== undefined) return kept;
    this.#names.set(name, name);
    return name;
  }
}
