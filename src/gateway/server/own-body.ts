// Pipes the body of a request to an upstream, and keeps what was read of it for as long as it may have to be sent again.

import type { ClientRequest, IncomingMessage } from 'node:http';
import { pairs } from './headers.js';

/** Limit for what is kept, in bytes. A longer request is not sent again. */
const MAX_KEPT_BYTES = 32 * 1024 * 1024;

/** The body of a request as the client sends it. */
export class OwnBody {
  readonly #request: IncomingMessage;
  /** What was read so far; `undefined` if it is not kept any more. */
  #read: Buffer[] | undefined = [];
  #length = 0;
  #isPiped = false;

  constructor(request: IncomingMessage) {
    this.#request = request;
  }

  /** Whether it can be piped again from its start. */
  get isKept(): boolean {
    return this.#read !== undefined;
  }

  /** Pipes it to an upstream. The second time, what was read is sent first, and not kept any more. */
  pipeTo(outgoing: ClientRequest): void {
    const request = this.#request;
    for (const chunk of this.#read ?? []) outgoing.write(chunk);
    if (this.#isPiped) this.forget();
    else request.on('data', this.#keep);
    this.#isPiped = true;
    const end = (): void => {
      if (request.rawTrailers.length > 0) outgoing.addTrailers(pairs(request.rawTrailers));
      outgoing.end();
    };
    if (request.readableEnded) {
      end();
      return;
    }
    request.pipe(outgoing, { end: false });
    request.once('end', end);
    request.once('close', () => {
      if (!request.complete) outgoing.destroy();
    });
    outgoing.once('socket', () => {
      // Only a connection that was used before may turn out to be closed.
      if (!outgoing.reusedSocket) this.forget();
    });
  }

  /** Stops keeping what is read. */
  forget(): void {
    this.#read = undefined;
    this.#request.off('data', this.#keep);
  }

  /**
   * Reads and discards the rest of a request whose answer is complete, because some clients read no answer before they have sent the
   * whole request. By then, Node no longer writes the request to the upstream.
   */
  discardRest(outgoing: ClientRequest): void {
    const request = this.#request;
    if (request.complete) return;
    request.unpipe(outgoing);
    outgoing.destroy();
    request.resume();
  }

  readonly #keep = (chunk: Buffer): void => {
    this.#length += chunk.length;
    if (this.#length > MAX_KEPT_BYTES) this.forget();
    else this.#read?.push(chunk);
  };
}
