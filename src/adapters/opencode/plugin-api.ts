// What is used of OpenCode's API for plugins, as its version 1.18 declares it. Types alone.

import type { OpenCodeMessage } from './stored-message.js';

/** What a model accepts, in tokens. */
export interface OpenCodeLimit {
  readonly context: number;
  readonly input?: number | undefined;
  readonly output: number;
}

/** What a plugin is started with. */
export interface OpenCodeInput {
  readonly directory: string;
  /** OpenCode's own client, whose shape is looked at when it is used. */
  readonly client: object;
}

/** A command of the user's that is about to run. */
interface CommandInput {
  readonly command: string;
  readonly sessionID: string;
}

/** A call that is about to be made. */
interface ParamsInput {
  readonly model: { readonly id: string; readonly limit: OpenCodeLimit };
}

/** The hooks of the plugin. */
export interface OpenCodeHooks {
  readonly config: (config: { command?: object }) => Promise<void>;
  readonly dispose: () => Promise<void>;
  readonly tool: {
    readonly recall: {
      readonly description: string;
      readonly args: Readonly<Record<string, never>>;
      execute(input: object, context: { readonly sessionID: string }): Promise<string>;
    };
  };
  readonly 'chat.params': (input: ParamsInput) => Promise<void>;
  readonly 'tool.definition': (
    input: { readonly toolID: string },
    output: { readonly description: string },
  ) => Promise<void>;
  readonly 'command.execute.before': (
    input: CommandInput,
    output: { readonly parts: object[] },
  ) => Promise<void>;
  readonly 'experimental.session.compacting': (input: {
    readonly sessionID: string;
  }) => Promise<void>;
  readonly 'experimental.chat.messages.transform': (
    input: object,
    output: { readonly messages: OpenCodeMessage[] },
  ) => Promise<void>;
}

/** The default export of a plugin's module. */
export interface OpenCodePlugin {
  readonly id: string;
  readonly server: (
    input: OpenCodeInput,
    options?: Readonly<Record<string, unknown>>,
  ) => Promise<OpenCodeHooks>;
}
