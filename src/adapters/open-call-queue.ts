// Calls that wait for a response, in their order. Finds the next one without looking at any twice.

/** A call that has not been answered, or was. */
export interface WaitingCall {
  /** The step of the model in which it was made; a later call has none that is lower. */
  readonly step: number;
  isAnswered: boolean;
}

/** What was looked at is let go when there is so much of it. */
const MIN_TRIMMED = 64;

/** A queue of calls that a response may mean. All operations together are linear in calls. */
export class OpenCallQueue<Call extends WaitingCall> {
  #calls: Call[] = [];
  /** No call in front of it waits. */
  #oldest = 0;
  /** No call in front of it waits and is of the present step. */
  #present = 0;

  add(call: Call): void {
    this.#calls.push(call);
    this.#letGo();
  }

  /**
   * Returns the oldest waiting call of a step, else the oldest one of the steps before; `undefined` when none waits.
   *
   * @param step no lower than in the calls before
   */
  next(step: number): Call | undefined {
    this.#letGo();
    for (; this.#present < this.#calls.length; this.#present += 1) {
      const call = this.#calls[this.#present];
      if (call?.isAnswered === false && call.step === step) return call;
    }
    return this.#calls[this.#oldest];
  }

  #letGo(): void {
    while (this.#calls[this.#oldest]?.isAnswered === true) this.#oldest += 1;
    if (this.#oldest >= MIN_TRIMMED && this.#oldest * 2 >= this.#calls.length) {
      this.#calls = this.#calls.slice(this.#oldest);
      this.#present -= this.#oldest;
      this.#oldest = 0;
    }
    this.#present = Math.max(this.#present, this.#oldest);
  }
}

/** Such queues by name, and one of all calls. */
export class NamedCallQueues<Call extends WaitingCall & { readonly name?: string | undefined }> {
  readonly #all = new OpenCallQueue<Call>();
  readonly #byName = new Map<string, OpenCallQueue<Call>>();

  add(call: Call): void {
    this.#all.add(call);
    if (call.name !== undefined) queueOf(this.#byName, call.name).add(call);
  }

  /** Returns the next call of this name, of any when there is none; see `OpenCallQueue.next`. */
  next(name: string | undefined, step: number): Call | undefined {
    return (name === undefined ? this.#all : this.#byName.get(name))?.next(step);
  }
}

/** Returns the queue of a key, which is made when it is missing. */
export function queueOf<Call extends WaitingCall>(
  queues: Map<string, OpenCallQueue<Call>>,
  key: string,
): OpenCallQueue<Call> {
  const known = queues.get(key);
  if (known !== undefined) return known;
  const queue = new OpenCallQueue<Call>();
  queues.set(key, queue);
  return queue;
}
