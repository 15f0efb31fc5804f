// What a real client is to the check of hosts: how it is installed, configured and started. Starts nothing.

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { HostTools } from './chore.js';

/** One session of a client. */
export interface ClientPlay {
  /** How ctxfold comes in. */
  readonly way: 'plugin' | 'gateway' | 'none';
  readonly api: ProviderApi;
  /** @default what the client has for `scripted`, or its usual one */
  readonly model?: string;
  /** Of a chore with more than 60 calls @default false */
  readonly isLong?: boolean;
  /** What the client takes for its model's window, in tokens @default 200,000, which no chore fills */
  readonly window?: number;
  /** Whether the client is to summarize its history itself; through the gateway, it sees no refusal for the length @default 'never' */
  readonly ownCompaction?: 'never' | 'once or more' | 'after a refusal';
}

/** What one session is played with. */
export interface ClientSetup {
  /** The folder with the installed client's `node_modules`. */
  readonly installed: string;
  /** A Node that the client runs on. */
  readonly node: string;
  /** Its home, empty at first. */
  readonly home: string;
  readonly workspace: string;
  readonly way: ClientPlay['way'];
  /** Of the provider, or of a gateway to it, without a path. */
  readonly url: string;
  readonly api: ProviderApi;
  /** The folder of ctxfold as a package, where its plugin is to be used. */
  readonly plugin: string | undefined;
  readonly contextWindow: number;
  readonly model: string | undefined;
}

/** A process to start. */
export interface ClientCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/** A real client. */
export interface Client {
  readonly name: string;
  readonly tools: HostTools;
  /** Whether its model reasons. */
  readonly thinks: boolean;
  /** Whether it can be started anew within a session. */
  readonly goesOn: boolean;
  /** Whether it ends with 1 when the provider has refused a request, though it has gone on from there; without ctxfold, too. */
  readonly failsAfterRefusal?: boolean;
  /** Whether its tools take absolute paths only. @default false */
  readonly takesWholePaths?: boolean;
  /** Its sessions, the weightiest first. */
  readonly plays: readonly ClientPlay[];
  /** Writes its configuration. */
  configure(setup: ClientSetup): void;
  /** Runs one prompt to its end; `goesOn` with the session of the last one. */
  run(setup: ClientSetup, prompt: string, goesOn: boolean): ClientCommand;
}
