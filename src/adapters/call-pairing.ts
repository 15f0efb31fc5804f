// Pairs tool responses with calls, in formats in which either may lack an id: by id if there is one, else by name in order.

import type { AnsweredTool } from './blocks.js';
import type { Origin } from './message-format.js';

/** The identifiers of a call or a response. */
export interface ToolUseName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

interface OpenCall extends ToolUseName {
  /** Its id in blocks: its own one, unless another call has that. */
  readonly blockId: string;
  /** The step of the model that made it; later calls have the same or a higher one. */
  readonly step: number;
  isAnswered: boolean;
}

/** The pairs of one conversation. Generated ids depend on origins alone. */
export class CallPairing {
  readonly #taken = new Set<string>();
  readonly #byId = new Map<string, OpenCallQueue>();
  readonly #calls = new NamedCallQueues();
  readonly #callsWithoutId = new NamedCallQueues();
  #step = 0;

  /** To be called for each new answer of the model. */
  beginStep(): void {
    this.#step += 1;
  }

  /** Adds a call, and returns its unique id in blocks. */
  call({ id, name }: ToolUseName, origin: Origin): string {
    const blockId = this.#idFor(id, origin);
    const call = { id, name, blockId, step: this.#step, isAnswered: false };
    this.#calls.add(call);
    if (id === undefined) this.#callsWithoutId.add(call);
    else queueOf(this.#byId, id).add(call);
    return blockId;
  }

  /**
   * Finds the call that a response answers. If the response is complete, no later one can answer that call. A response without a
   * call gets a generated id.
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
    if (this.#byId.get(call.id)?.next(this.#step) === undefined) this.#byId.delete(call.id);
  }

  /** Prefers calls of the present step to unanswered ones of earlier steps. */
  #callOf({ id, name }: ToolUseName): OpenCall | undefined {
    if (id === undefined) return this.#calls.next(name, this.#step);
    // A call with a different id is no match.
    return this.#byId.get(id)?.next(this.#step) ?? this.#callsWithoutId.next(name, this.#step);
  }

  #idFor(id: string | undefined, [message, part]: Origin): string {
    let free = id === undefined || id === '' ? `#${message}.${part}` : id;
    while (this.#taken.has(free)) free = free === id ? `#${message}.${part}` : `#${free}`;
    this.#taken.add(free);
    return free;
  }
}

/** Calls in order. All operations together are linear in the number of calls. */
class OpenCallQueue {
  readonly #calls: OpenCall[] = [];
  /** All calls before this index are answered. */
  #oldest = 0;
  /** All calls before this index are answered or of earlier steps. */
  #present = 0;

  add(call: OpenCall): void {
    this.#calls.push(call);
  }

  /**
   * Returns the oldest open call of a step, else the oldest one of earlier steps; `undefined` if there is none.
   *
   * @param step no lower than in earlier calls of this method
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

/** Queues by name, and one of all calls. */
class NamedCallQueues {
  readonly #all = new OpenCallQueue();
  readonly #byName = new Map<string, OpenCallQueue>();

  add(call: OpenCall): void {
    this.#all.add(call);
    if (call.name !== undefined) queueOf(this.#byName, call.name).add(call);
  }

  /** Returns the next call with this name, or with any name if it is `undefined`; see `OpenCallQueue.next`. */
  next(name: string | undefined, step: number): OpenCall | undefined {
    return (name === undefined ? this.#all : this.#byName.get(name))?.next(step);
  }
}

/** Returns the queue of a key, creating it if it is missing. */
function queueOf(queues: Map<string, OpenCallQueue>, key: string): OpenCallQueue {
  const known = queues.get(key);
  if (known !== undefined) return known;
  const queue = new OpenCallQueue();
  queues.set(key, queue);
  return queue;
}
