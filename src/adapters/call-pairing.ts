// Which call a response answers, in formats that may leave out ids on calls or on responses or on both:
// they are paired by id where there is one, and else by name in their order.

import type { Origin } from './message-format.js';
import { NamedCallQueues, queueOf } from './open-call-queue.js';
import type { OpenCallQueue, WaitingCall } from './open-call-queue.js';

/** A call or a response, as far as pairing goes. */
export interface ToolUseName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** A call that waits for its response. */
interface OpenCall extends ToolUseName, WaitingCall {
  /** What its blocks name it: its own id, unless that was taken. */
  readonly blockId: string;
}

/** The call that a response was found to answer. */
export interface AnsweredCall {
  readonly blockId: string;
  readonly name: string;
}

/** The pairs of one conversation. Ids that it makes up depend on origins alone. */
export class CallPairing {
  readonly #taken = new Set<string>();
  readonly #byId = new Map<string, OpenCallQueue<OpenCall>>();
  readonly #calls = new NamedCallQueues<OpenCall>();
  readonly #callsWithoutId = new NamedCallQueues<OpenCall>();
  #step = 0;

  /** The model speaks again after it was answered. */
  beginStep(): void {
    this.#step += 1;
  }

  /** Notes a call, and returns the id by which blocks name it: one that no other call has. */
  call({ id, name }: ToolUseName, origin: Origin): string {
    const blockId = this.#idFor(id, origin);
    const call = { id, name, blockId, step: this.#step, isAnswered: false };
    this.#calls.add(call);
    if (id === undefined) this.#callsWithoutId.add(call);
    else queueOf(this.#byId, id).add(call);
    return blockId;
  }

  /**
   * Finds the call that a response answers, and closes it unless more responses are to come. A response
   * that answers none gets an id of its own.
   */
  answer(response: ToolUseName, origin: Origin, isComplete: boolean): AnsweredCall {
    const call = this.#callOf(response);
    if (call === undefined) {
      return { blockId: this.#idFor(undefined, origin), name: response.name ?? '' };
    }
    if (isComplete) this.#close(call);
    return { blockId: call.blockId, name: response.name ?? call.name ?? '' };
  }

  #close(call: OpenCall): void {
    call.isAnswered = true;
    if (call.id === undefined) return;
    if (this.#byId.get(call.id)?.next(this.#step) === undefined) this.#byId.delete(call.id);
  }

  /** A call of an earlier step that was never answered must not take the response to one of this step. */
  #callOf({ id, name }: ToolUseName): OpenCall | undefined {
    if (id === undefined) return this.#calls.next(name, this.#step);
    // Two ids that differ are no pair.
    return this.#byId.get(id)?.next(this.#step) ?? this.#callsWithoutId.next(name, this.#step);
  }

  #idFor(id: string | undefined, [message, part]: Origin): string {
    let free = id === undefined || id === '' ? `#${message}.${part}` : id;
    while (this.#taken.has(free)) free = free === id ? `#${message}.${part}` : `#${free}`;
    this.#taken.add(free);
    return free;
  }
}
