// Which call a response answers, in formats that may leave out ids on calls or on responses or on both:
// they are paired by id where there is one, and else by name in their order.

import type { Origin } from './message-format.js';

/** A call or a response, as far as pairing goes. */
export interface ToolUseName {
  readonly id?: string | undefined;
  readonly name?: string | undefined;
}

/** A call that has not been answered. */
interface OpenCall extends ToolUseName {
  /** What its blocks name it: its own id, unless that was taken. */
  readonly blockId: string;
  /** The step of the model in which it was made. */
  readonly step: number;
}

/** The call that a response was found to answer. */
export interface AnsweredCall {
  readonly blockId: string;
  readonly name: string;
}

/** The pairs of one conversation. Ids that it makes up depend on origins alone. */
export class CallPairing {
  readonly #taken = new Set<string>();
  #open: OpenCall[] = [];
  #step = 0;

  /** The model speaks again after it was answered. */
  beginStep(): void {
    this.#step += 1;
  }

  /** Notes a call, and returns the id by which blocks name it: one that no other call has. */
  call({ id, name }: ToolUseName, origin: Origin): string {
    const blockId = this.#idFor(id, origin);
    this.#open.push({ id, name, blockId, step: this.#step });
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
    if (isComplete) this.#open = this.#open.filter((other) => other !== call);
    return { blockId: call.blockId, name: response.name ?? call.name ?? '' };
  }

  /** A call of an earlier step that was never answered must not take the response to one of this step. */
  #callOf({ id, name }: ToolUseName): OpenCall | undefined {
    const open = [
      ...this.#open.filter(({ step }) => step === this.#step),
      ...this.#open.filter(({ step }) => step < this.#step),
    ];
    const byId = id === undefined ? undefined : open.find((call) => call.id === id);
    if (byId !== undefined) return byId;
    // Two ids that differ are no pair.
    const unnamed = open.filter((call) => id === undefined || call.id === undefined);
    return unnamed.find((call) => name === undefined || call.name === name);
  }

  #idFor(id: string | undefined, [message, part]: Origin): string {
    let free = id === undefined || id === '' ? `#${message}.${part}` : id;
    while (this.#taken.has(free)) free = free === id ? `#${message}.${part}` : `#${free}`;
    this.#taken.add(free);
    return free;
  }
}
