// Users who share everything that can be shared: a compactor, transcript directories, call ids, and some also conversation
// ids and first words. Collects all outputs by place.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { createCompactor } from 'ctxfold';
import type { Compactor, CompactorOptions, Logger, Summarizer, Session } from 'ctxfold';
import { prepareStep, recallTool } from 'ctxfold/ai-sdk';
import { chatCompactor } from 'ctxfold/openai';
import { createMessageCompactor } from '../../src/adapters/conversation/message-compactor.js';
import { Canaries } from './canaries.js';
import { HOSTILE_IDS } from './hostile-ids.js';
import {
  answer,
  assistant,
  call,
  PLAIN_MESSAGE_FORMAT,
  user as asking,
} from './plain-message-format.js';
import type { PlainMessage } from './plain-message-format.js';

const USERS = 10;
/** Steps of a user's first call; each plants four canaries. */
const FIRST_STEPS = 5;
const FORMATS = ['plain', 'ai-sdk', 'openai'] as const;
const EVENTS = [
  'pruned',
  'compressed',
  'compressionFailed',
  'fitted',
  'pruned',
  'fallback',
] as const;

/** The content of one step of a conversation. */
interface Said {
  readonly text: string;
  readonly callId: string;
  readonly input: object;
  readonly result: string;
}

/** A user with one conversation. */
export interface User {
  /** The owner of its canaries. */
  readonly name: string;
  readonly format: (typeof FORMATS)[number];
  /** @default the conversation is recognized by its messages */
  readonly conversationId: string | undefined;
  readonly removalLogDirectory: string;
  readonly said: Said[];
}

/** The users of one compactor, which can be closed and reopened. */
export class IsolationWorld {
  readonly canaries = new Canaries<string>();
  /** Canaries in conversation ids, which may appear where content may not. */
  readonly idMarks = new Set<string>();
  readonly users: readonly User[];
  /** Number of originals returned to users. */
  recalled = 0;
  readonly #options: CompactorOptions;
  readonly #directories: readonly [string, string];
  #compactor: Compactor;
  #sessions: Session[] = [];
  #lines = 0;

  /** @param root a directory for this world alone */
  constructor(root: string, options: CompactorOptions, seed: number) {
    this.#directories = [path.join(root, 'one'), path.join(root, 'two')];
    const summarizer: Summarizer = {
      contextLimit: 100_000,
      generate: (request) => {
        this.canaries.collect(`request ${(this.#lines += 1)}`, request);
        return Promise.resolve({
          text: '<state_snapshot>short</state_snapshot>',
          finishReason: 'stop',
        });
      },
    };
    this.#options = { ...options, summarizer, logger: this.#logger };
    this.#compactor = createCompactor(this.#options);
    this.users = Array.from({ length: USERS }, (_, at) => this.#makeUser(at, seed));
  }

  /** Lets the users send messages concurrently, and records what each receives. */
  async round(users: readonly User[]): Promise<void> {
    await Promise.all(
      users.map(async (user) => {
        const isFirst = user.said.length === 0;
        // Conversations recognized by their messages all start alike.
        if (isFirst && user.conversationId === undefined) await this.#send(user);
        const steps = isFirst ? FIRST_STEPS : 1;
        for (let step = 0; step < steps; step += 1) user.said.push(this.#say(user));
        await this.#send(user);
        await this.#recall(user);
      }),
    );
    await this.#inspectSessions();
  }

  /** Simulates a process restart: only the transcripts stay. */
  async restart(): Promise<void> {
    await this.close();
    this.#compactor = createCompactor(this.#options);
  }

  async close(): Promise<void> {
    this.canaries.collect('stats of the compactor', this.#compactor.stats());
    await this.#compactor.close();
    this.#sessions = [];
    for (const directory of this.#directories) this.#inspectFiles(directory);
  }

  #makeUser(at: number, seed: number): User {
    const name = `user ${at}`;
    const format = FORMATS[at % FORMATS.length] ?? 'plain';
    const [one, two] = this.#directories;
    const said: Said[] = [];
    // Two have the same id and format in two directories, two have no id, and the others have path-like ids.
    if (at === 0 || at === 3) {
      const removalLogDirectory = at === 0 ? one : two;
      return { name, format, conversationId: 'chat-1', removalLogDirectory, said };
    }
    const shared = { name, format, removalLogDirectory: one, said };
    if (at === 1 || at === 4) return { ...shared, conversationId: undefined };
    const mark = this.canaries.plant(name);
    this.idMarks.add(mark);
    const hostile = HOSTILE_IDS[(seed + at) % HOSTILE_IDS.length] ?? '';
    return { ...shared, conversationId: `${hostile}${mark}` };
  }

  #say({ name, said }: User): Said {
    const mark = (): string => this.canaries.plant(name);
    return {
      text: `Look at ${mark()}.`,
      callId: `call_${said.length}`,
      input: { path: `/home/${mark()}/a.ts`, note: mark() },
      result: `${mark()} is a line\n`.repeat(20),
    };
  }

  async #send(user: User): Promise<void> {
    const place = `sent by ${user.name}`;
    try {
      this.canaries.collect(place, await this.#compact(user));
    } catch (error) {
      this.canaries.collect(place, error);
    }
  }

  #compact({ format, conversationId, removalLogDirectory, said }: User): Promise<unknown> {
    const options = {
      edits: 'every-turn',
      maxConversations: 3,
      removalLogDirectory,
      onSession: this.#watch,
      logger: this.#logger,
    } as const;
    const given = conversationId === undefined ? {} : { conversationId };
    switch (format) {
      case 'plain':
        return createMessageCompactor(
          this.#compactor as never,
          PLAIN_MESSAGE_FORMAT,
          options as never,
        )(plain(said), given);
      case 'openai':
        return chatCompactor(this.#compactor, options)(chat(said) as never, given);
      case 'ai-sdk':
        return prepareStep(this.#compactor, { ...options, ...given })({
          model: 'model',
          messages: modelMessages(said) as never,
          steps: [],
        });
    }
  }

  /** Recalls with everything one could try: call ids, which all users share, and conversation ids. */
  async #recall({ name, conversationId, removalLogDirectory }: User): Promise<void> {
    if (conversationId === undefined) return;
    const conversation = { conversationId, removalLogDirectory };
    const tool = recallTool(this.#compactor, conversation);
    const place = `recalled by ${name}`;
    for (const id of this.#tried()) {
      const recalled = await tool.execute({ id });
      this.canaries.collect(place, recalled);
      if (String(recalled).includes('is a line')) this.recalled += 1;
      const options = { sessionId: conversationId, removalLogDirectory };
      this.canaries.collect(place, await this.#compactor.restore(id, options).catch(errorOf));
    }
  }

  #tried(): string[] {
    const most = Math.max(...this.users.map(({ said }) => said.length));
    const calls = Array.from({ length: most }, (_, at) => `call_${at}`);
    return [...calls, '', '*', '__proto__'];
  }

  readonly #watch = (session: Session): void => {
    const place = `session ${(this.#lines += 1)}`;
    for (const name of EVENTS) {
      session.on(name, (event: unknown) => {
        this.canaries.collect(place, event);
      });
    }
    this.#sessions.push(session);
    this.#places.set(session, place);
  };

  readonly #places = new WeakMap<Session, string>();

  async #inspectSessions(): Promise<void> {
    for (const session of this.#sessions) {
      const place = this.#places.get(session) ?? 'unknown';
      const length = session.history.getRawHistory().length;
      this.canaries.collect(place, [session.stats(), session.costs(), session.contextUsage()]);
      for (let at = 0; at < length; at += 1) this.canaries.collect(place, session.explain(at));
      this.canaries.collect(place, await session.restore('call_0').catch(errorOf));
    }
  }

  #inspectFiles(directory: string): void {
    for (const name of readdirSync(directory)) {
      const file = path.join(directory, name);
      this.canaries.collect(`file ${file}`, readFileSync(file, 'utf8'));
    }
  }

  readonly #logger: Logger = {
    debug: (...line) => {
      this.#log(line);
    },
    warn: (...line) => {
      this.#log(line);
    },
    error: (...line) => {
      this.#log(line);
    },
  };

  #log(line: readonly unknown[]): void {
    this.canaries.collect(`line ${(this.#lines += 1)}`, line);
  }
}

function errorOf(thrown: unknown): unknown {
  return thrown;
}

function plain(said: readonly Said[]): PlainMessage[] {
  return [
    asking('Hello.'),
    ...said.flatMap(({ text, callId, input, result }) => [
      asking(text),
      assistant(call(callId, 'look', input)),
      answer(callId, 'look', result),
    ]),
  ];
}

function chat(said: readonly Said[]): object[] {
  return [
    { role: 'user', content: 'Hello.' },
    ...said.flatMap(({ text, callId: id, input, result }) => [
      { role: 'user', content: text },
      {
        role: 'assistant',
        content: null,
        tool_calls: [
          { id, type: 'function', function: { name: 'look', arguments: JSON.stringify(input) } },
        ],
      },
      { role: 'tool', tool_call_id: id, content: result },
    ]),
  ];
}

function modelMessages(said: readonly Said[]): object[] {
  return [
    { role: 'user', content: 'Hello.' },
    ...said.flatMap(({ text, callId: toolCallId, input, result: value }) => {
      const of = { toolCallId, toolName: 'look' };
      return [
        { role: 'user', content: text },
        { role: 'assistant', content: [{ type: 'tool-call', ...of, input }] },
        {
          role: 'tool',
          content: [{ type: 'tool-result', ...of, output: { type: 'text', value } }],
        },
      ];
    }),
  ];
}
