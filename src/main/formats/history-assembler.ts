// Turns the records of any agent, in recorded order, into a valid history: parts of one model message become one entry, responses
// follow their calls, and only unanswered calls stay unpaired. Buffers one turn, and responses that were recorded before their calls.

import { isPlainName, shownText } from '../../shared/shown-text.js';
import {
  carriesContent,
  hasSubstance,
  toolContent,
  toolResponse,
  type ContentBlock,
  type ContentMetadata,
  type IContent,
  type ToolCallBlock,
  type ToolResponseBlock,
} from '../../shared/content.js';
import { withoutUndefined } from '../../shared/json.js';
import { UniqueIds } from '../../shared/unique-ids.js';
import { withoutMedia } from './media.js';
import { TextRepair } from './text-repair.js';
import type { TranscriptEvent, TranscriptPlace } from './transcript.js';

/** A tool response as recorded. */
export interface RecordedResponse {
  /** The recorded id of the call. @default the id of the turn's oldest unanswered call */
  readonly callId?: string | undefined;
  readonly result: unknown;
  readonly error?: string | undefined;
}

/** Metadata as recorded: what a record does not have may be `undefined`. */
export type RecordedMetadata = {
  readonly [Key in keyof ContentMetadata]: ContentMetadata[Key] | undefined;
};

interface OpenTurn {
  readonly number: number;
  readonly key: string | undefined;
  readonly blocks: ContentBlock[];
  /** The recorded ids of the message's calls, in order. */
  readonly recordedIds: Set<string>;
  readonly callOrder: string[];
  /** Number of calls at the start of `callOrder` that are known to be answered. */
  answeredCalls: number;
  metadata: RecordedMetadata;
  readonly responses: ToolResponseBlock[];
  responseMetadata: RecordedMetadata;
  /** Entries recorded after the message. They are held back, because more of its responses may come and must precede them. */
  readonly after: IContent[];
}

/** A response whose call has not been recorded yet. */
interface EarlyResponse {
  readonly response: RecordedResponse;
  readonly place: TranscriptPlace;
  readonly metadata: RecordedMetadata;
}

/** Maximum number of buffered responses whose calls have not been recorded yet. */
const MAX_EARLY = 1_000;

interface OpenCall {
  readonly id: string;
  readonly name: string;
  readonly turn: number;
}

/** The text under which readers of sessions with branches count messages of abandoned branches. */
export const ABANDONED_BRANCH = 'messages that the session went back from, left out';

/** Maximum number of distinct warnings that are counted. */
const MAX_TALLIES = 100;

/** Assembles one history. */
export class HistoryAssembler {
  /** Where the record that is being read is. Warnings name it. */
  place: TranscriptPlace = {};
  /** The model of messages that name none. */
  model: string | undefined;
  #events: TranscriptEvent[] = [];
  #turn: OpenTurn | undefined;
  #turns = 0;
  #hasWorkspaceRoot = false;
  #hasEntries = false;
  #beginsContext = false;
  readonly #openCalls = new Map<string, OpenCall>();
  /** Responses recorded before their calls, by the recorded id of the call. */
  readonly #early = new Map<string, EarlyResponse>();
  /** Of calls. */
  readonly #ids = new UniqueIds();
  readonly #tallies = new Map<string, number>();
  readonly #repair = new TextRepair((what) => {
    this.tally(what);
  });

  /** Adds a message of the user, or of the harness on the user's behalf. */
  addHuman(blocks: readonly ContentBlock[], metadata: RecordedMetadata = {}): void {
    const filled = blocks.filter(hasSubstance);
    if (filled.length === 0) return;
    this.#addAfterTurn({ speaker: 'human', blocks: filled, ...filledMetadata(metadata) });
  }

  /**
   * Adds a model message, or a part of the open one if `key` is the same. A call without an id, or
   * with an id that an earlier message used, gets a new one. A call without a name is left out with a warning.
   */
  addAi(blocks: readonly ContentBlock[], metadata: RecordedMetadata = {}, key?: string): void {
    if (this.#turn === undefined || key === undefined || this.#turn.key !== key) {
      this.#closeTurn();
      this.#turns += 1;
      this.#turn = {
        number: this.#turns,
        key,
        blocks: [],
        recordedIds: new Set(),
        callOrder: [],
        answeredCalls: 0,
        metadata: {},
        responses: [],
        responseMetadata: {},
        after: [],
      };
    }
    const turn = this.#turn;
    // The first part has the start time, the last one the final usage.
    turn.metadata = {
      ...metadata,
      model: metadata.model ?? this.model,
      ...withoutUndefined(turn.metadata),
      ...(metadata.usage !== undefined && { usage: metadata.usage }),
    };
    for (const block of blocks) {
      if (block.type !== 'tool_call') turn.blocks.push(block);
      else this.#addCall(turn, block);
    }
  }

  /** Adds a tool response. If its call is recorded later, the response waits for it; if never, it is left out with a warning. */
  addResponse(response: RecordedResponse, metadata: RecordedMetadata = {}): void {
    const recordedId = response.callId ?? this.#oldestOpenCall();
    const call = recordedId === undefined ? undefined : this.#openCalls.get(recordedId);
    if (recordedId === undefined || call === undefined) {
      const mayCome =
        recordedId !== undefined &&
        !this.#early.has(recordedId) &&
        !this.#ids.has(this.#repair.repair(recordedId));
      if (mayCome && this.#early.size < MAX_EARLY) {
        this.#early.set(recordedId, { response, place: this.place, metadata });
      } else this.#warnOfOrphan(response);
      return;
    }
    this.#openCalls.delete(recordedId);
    const { result, ...media } = withoutMedia(response.result);
    const block = { ...toolResponse(call.id, call.name, result, response.error), ...media };
    const turn = this.#turn;
    if (turn?.number === call.turn) {
      turn.responses.push(block);
      turn.responseMetadata = { ...metadata, ...withoutUndefined(turn.responseMetadata) };
    } else {
      this.#addAfterTurn(toolContent([block], filledMetadata(metadata).metadata));
    }
  }

  /** Begins a new context: the agent compacted its history, and its context consists only of what is added from here on. */
  beginContext(): void {
    this.#closeTurn();
    this.#openCalls.clear();
    this.#beginsContext = this.#hasEntries;
  }

  /** Adds metadata to the newest model message. */
  amend(metadata: RecordedMetadata): void {
    if (this.#turn !== undefined) this.#turn.metadata = { ...this.#turn.metadata, ...metadata };
  }

  /** Sets the workspace root; only the first call has an effect. */
  setWorkspaceRoot(path: string | undefined): void {
    if (path === undefined || path === '' || this.#hasWorkspaceRoot) return;
    this.#hasWorkspaceRoot = true;
    this.#events.push({ kind: 'workspace-root', path: this.#repair.repair(path) });
  }

  /** Tells of something in the record that is being read. */
  warn(message: string): void {
    const warning = this.#repair.repair({ ...this.place, message });
    this.#events.push({ kind: 'warning', warning });
  }

  /** Counts something that may occur often. `finish` emits one warning with the total. */
  tally(what: string, count: number = 1): void {
    if (count === 0) return;
    const key =
      this.#tallies.has(what) || this.#tallies.size < MAX_TALLIES ? what : 'other things left out';
    this.#tallies.set(key, (this.#tallies.get(key) ?? 0) + count);
  }

  /** Counts something that is left out, by kind. */
  tallyLeftOut(what: string, kind: string): void {
    this.tally(`${what} ${shownText(kind)} left out`);
  }

  /** Returns the events that became final since the last call. */
  drain(): readonly TranscriptEvent[] {
    const events = this.#events;
    this.#events = [];
    return events;
  }

  /** Ends the history. The remaining events can then be drained. */
  finish(): void {
    this.#closeTurn();
    for (const { response, place } of this.#early.values()) {
      this.place = place;
      this.#warnOfOrphan(response);
    }
    this.place = {};
    for (const [what, count] of this.#tallies) this.warn(`${what}: ${count}`);
  }

  #warnOfOrphan({ callId }: RecordedResponse): void {
    const which = callId === undefined ? '' : ` (${shownId(callId)})`;
    this.warn(`A tool response that answers no open call${which} was left out.`);
  }

  #addCall(turn: OpenTurn, call: ToolCallBlock): void {
    if (call.name === '') {
      this.warn('A tool call without a name was left out.');
      return;
    }
    if (call.id !== '' && turn.recordedIds.has(call.id)) {
      this.tally('tool calls recorded twice in one message, left out once');
      return;
    }
    const id = this.#ids.take(call.id === '' ? 'call' : this.#repair.repair(call.id));
    const recordedId = call.id === '' ? id : call.id;
    turn.recordedIds.add(recordedId);
    turn.callOrder.push(recordedId);
    turn.blocks.push(id === call.id ? call : { ...call, id });
    this.#openCalls.set(recordedId, { id, name: call.name, turn: turn.number });
    const early = this.#early.get(recordedId);
    if (early === undefined) return;
    this.#early.delete(recordedId);
    this.addResponse(early.response, early.metadata);
  }

  /** Amortized O(1): an answered call stays answered while its turn is open, so no call is examined twice. */
  #oldestOpenCall(): string | undefined {
    const turn = this.#turn;
    if (turn === undefined) return undefined;
    for (; turn.answeredCalls < turn.callOrder.length; turn.answeredCalls += 1) {
      const recordedId = turn.callOrder[turn.answeredCalls] ?? '';
      if (this.#openCalls.get(recordedId)?.turn === turn.number) return recordedId;
    }
    return undefined;
  }

  #addAfterTurn(content: IContent): void {
    if (this.#turn === undefined) this.#emit(content);
    else this.#turn.after.push(content);
  }

  #closeTurn(): void {
    const turn = this.#turn;
    if (turn === undefined) return;
    this.#turn = undefined;
    const blocks = turn.blocks.filter(carriesContent);
    if (blocks.some(hasSubstance)) {
      this.#emit({ speaker: 'ai', blocks, ...filledMetadata(turn.metadata) });
    } else if (blocks.length > 0) {
      this.tally('model messages that hold only reasoning, left out');
    }
    if (turn.responses.length > 0) {
      this.#emit(toolContent(turn.responses, filledMetadata(turn.responseMetadata).metadata));
    }
    for (const content of turn.after) this.#emit(content);
  }

  #emit(content: IContent): void {
    if (this.#beginsContext) this.#events.push({ kind: 'context-start' });
    this.#beginsContext = false;
    this.#hasEntries = true;
    this.#events.push({ kind: 'entry', content: this.#repair.repair(content) });
  }
}

function shownId(id: string): string {
  return isPlainName(id) ? id : `an id of ${id.length} characters`;
}

function filledMetadata(recorded: RecordedMetadata): { metadata?: ContentMetadata } {
  const metadata = withoutUndefined(recorded);
  return Object.keys(metadata).length === 0 ? {} : { metadata };
}
