// Pairs tool responses with calls, in formats in which either may lack an id: by id if there is one, else by name, in order.

import { UniqueIds } from '../../shared/unique-ids.js';
import type { AnsweredTool } from './blocks.js';
import type { Origin } from './message-format.js';

/** The identifiers of a call or a response. */
export interface ToolUseName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

interface OpenCall extends ToolUseName {
  /** Unique id of the call in blocks: its own id, unless that is missing or another call has it. */
  readonly blockId: string;
  /** Number of the model's step that made the call. Never decreases from call to call. */
  readonly step: number;
  isAnswered: boolean;
}

/** Pairs the calls and responses of one conversation. Generated ids depend on origins only. */
export class CallPairing {
  readonly #ids = new UniqueIds();
  /** Open calls by what a response may know of its call: id or name. */
  readonly #queues = new Map<string, OpenCallQueue>();
  #step = 0;

  /** Must be called before the calls of each new answer of the model. */
  beginStep(): void {
    this.#step += 1;
  }

  /** Adds a call, and returns its unique id in blocks. */
  call({ id, name }: ToolUseName, origin: Origin): string {
    const blockId = this.#idFor(id, origin);
    const call = { id, name, blockId, step: this.#step, isAnswered: false };
    const lists = id === undefined ? [ANY, WITHOUT_ID] : [ANY];
    if (id !== undefined) this.#queueOf(keyOf(BY_ID, id)).add(call);
    for (const list of lists) {
      this.#queueOf(list).add(call);
      if (name !== undefined) this.#queueOf(keyOf(list, name)).add(call);
    }
    return blockId;
  }

  /**
   * Finds the call that a response answers. A complete response closes its call, so that no later response matches it. A response
   * without a call gets a generated id.
   */
  answer(response: ToolUseName, origin: Origin, isComplete: boolean): AnsweredTool {
    const call = this.#callOf(response);
    if (call === undefined) {
      return { callId: this.#idFor(undefined, origin), toolName: response.name ?? '' };
    }
    if (isComplete) this.#close(call);
    return { callId: call.blockId, toolName: response.name ?? call.name ?? '' };
  }

  #close(call: OpenCall): void {
    call.isAnswered = true;
    if (call.id === undefined) return;
    // Ids are many: a queue per call of a long conversation would stay.
    const key = keyOf(BY_ID, call.id);
    if (this.#queues.get(key)?.next(this.#step) === undefined) this.#queues.delete(key);
  }

  /** Prefers unanswered calls of the current step to those of earlier steps. */
  #callOf({ id, name }: ToolUseName): OpenCall | undefined {
    const next = (key: string): OpenCall | undefined => this.#queues.get(key)?.next(this.#step);
    if (id === undefined) return next(keyOf(ANY, name));
    // A call with another id never matches, but one without an id may.
    return next(keyOf(BY_ID, id)) ?? next(keyOf(WITHOUT_ID, name));
  }

  #idFor(id: string | undefined, [message, part]: Origin): string {
    return this.#ids.take(id === undefined || id === '' ? `#${message}.${part}` : id);
  }

  #queueOf(key: string): OpenCallQueue {
    const queue = this.#queues.get(key) ?? new OpenCallQueue();
    this.#queues.set(key, queue);
    return queue;
  }
}

/** Prefixes of queue keys: all calls, calls without an id, and calls by id. The first two have a queue for any name and one per name. */
const ANY = 'any';
const WITHOUT_ID = 'without id';
const BY_ID = 'id';

function keyOf(list: string, name: string | undefined): string {
  return name === undefined ? list : `${list} ${name}`;
}

/** Calls in order. Operations are amortized: all together are linear in the number of calls. */
class OpenCallQueue {
  readonly #calls: OpenCall[] = [];
  /** All calls before this index are answered. */
  #oldest = 0;
  /** All calls before this index are answered or belong to earlier steps. */
  #present = 0;

  add(call: OpenCall): void {
    this.#calls.push(call);
  }

  /**
   * Returns the oldest unanswered call of a step, else the oldest unanswered one of earlier steps; `undefined` if there is none.
   *
   * @param step never lower than in earlier calls of this method
   */
  next(step: number): OpenCall | undefined {
    while (this.#calls[this.#oldest]?.isAnswered === true) this.#oldest += 1;
    this.#present = Math.max(this.#present, this.#oldest);
    for (; this.#present < this.#calls.length; this.#present += 1) {
      const call = this.#calls[this.#present];
      if (call?.isAnswered === false && call.step === step) return call;
    }
    return this.#calls[this.#oldest];
  }
}
