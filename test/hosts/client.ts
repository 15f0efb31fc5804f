// The host check's interface to a real client: how to install, configure and start it. Starts nothing.

import type { ProviderApi } from '../../examples/support/scripted-provider.js';
import type { HostTools } from './chore.js';

/** One session of a client. */
export interface ClientPlay {
  /** How ctxfold is integrated. */
  readonly way: 'plugin' | 'gateway' | 'none';
  readonly api: ProviderApi;
  /** @default the client's name for `scripted`, or its usual model */
  readonly model?: string;
  /** Whether the chore has more than 60 calls. @default false */
  readonly isLong?: boolean;
  /** The client's setting for the model's window, in tokens. @default 200,000, which no chore fills */
  readonly window?: number;
  /**
   * Whether the client should summarize its history itself. Through the gateway it never sees a refusal for length. @default
   * 'never'
   */
  readonly ownCompaction?: 'never' | 'once or more' | 'after a refusal';
}

/** The environment of one session. */
export interface ClientSetup {
  /** The folder with the installed client's `node_modules`. */
  readonly installed: string;
  /** A Node that the client supports. */
  readonly node: string;
  /** Its home directory, initially empty. */
  readonly home: string;
  readonly workspace: string;
  readonly way: ClientPlay['way'];
  /** URL of the provider or of a gateway to it, without a path. */
  readonly url: string;
  readonly api: ProviderApi;
  /** The folder of the ctxfold package, if its plugin is to be used. */
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
  /** Whether it can be restarted within a session. */
  readonly goesOn: boolean;
  /** Whether it exits with 1 after a refused request even though it recovered, also without ctxfold. */
  readonly failsAfterRefusal?: boolean;
  /** Whether its tools only take absolute paths. @default false */
  readonly takesWholePaths?: boolean;
  /** Its sessions, the most important first. */
  readonly plays: readonly ClientPlay[];
  /** Writes its configuration. */
  configure(setup: ClientSetup): void;
  /** Runs one prompt to its end; `goesOn` resumes the previous session. */
  run(setup: ClientSetup, prompt: string, goesOn: boolean): ClientCommand;
}
