// The interface between the messages of an SDK and a conversation: reads messages as entries, and applies edits of entries to
// the messages. Formats implement it; they hold no conversation, run no compaction and know no session.

import type { ReasoningPolicy } from '../../main/preflight/reasoning-policy.js';
import type { ContentBlock, IContent, Speaker } from '../../shared/content.js';
import type { Sdk } from './sdk-of-message.js';

/**
 * Where a block comes from: the index of its message in the conversation, and the index of its part in that message, as the format
 * numbers parts. A message that is one text has part 0.
 */
export type Origin = readonly [message: number, part: number];

/** A block with its origin. Edits copy all fields of a block, so the origin survives. */
export type PlacedBlock = ContentBlock & {
  readonly origin: Origin;
  /** Set for the reasoning of a pinned message: the message stays even if its reasoning is removed. */
  readonly isOfPinned?: true;
  /** Set for an image that belongs to the result of the call `callId`: it goes when that result is replaced. */
  readonly isShown?: true;
};

/** An entry whose blocks have origins. The blocks of one message may be spread over several entries. */
export interface PlacedEntry extends IContent {
  readonly speaker: Speaker;
  readonly blocks: readonly PlacedBlock[];
}

/** What a reader has read from messages so far. Readers add to it. */
export interface Reading {
  readonly entries: PlacedEntry[];
  /**
   * Estimated tokens of pinned messages. These have no entry, except for their reasoning, and stay in their place: system messages,
   * and messages that may be neither edited nor dropped. Negative if messages are no longer pinned.
   */
  pinnedTokens: number;
  /** Index of the first message of an incomplete exchange. No message may be inserted into that exchange. @default none */
  openFrom?: number | undefined;
}

/** Reads the messages of one conversation in order, and remembers what later messages may refer to. */
export interface MessageReader<Message> {
  /**
   * Reads the next message. Every part of an unpinned message becomes a block, or belongs to that of another part; parts of unknown
   * kinds become `opaque` blocks.
   *
   * @param index the message's index in the conversation, for origins
   * @throws TypeError naming message and part if it is not a message of this format
   */
  read(message: Message, index: number, reading: Reading): void;

  /** Completes a reading after its last message, for formats in which a message depends on later ones. */
  end?(reading: Reading): void;
}

/**
 * Edits by index of the part: `null` if it was removed, else its new block, which is a `text` with another text, a `tool_call` with
 * other parameters, or a `tool_response` whose `result` has become a string.
 */
export type PartEdits = ReadonlyMap<number, ContentBlock | null>;

/** A message format. Stateless: one instance serves all conversations. */
export interface MessageFormat<Message> {
  /** The SDK whose messages these are, so that a caller is told who gives those of another one. @default not checked */
  readonly sdk?: Sdk | undefined;

  /** Creates the reader of a new conversation. */
  createReader(): MessageReader<Message>;

  /**
   * Whether two messages have the same content to the byte. Called with different objects, which may be invalid messages. Never
   * throws.
   */
  isSame(a: Message, b: Message): boolean;

  /**
   * Returns the message with edited parts; at least one part remains. Unedited parts are the same objects, and other
   * fields of the message and of edited parts are unchanged.
   */
  rewrite(message: Message, edits: PartEdits): Message;

  /**
   * Converts an entry that ctxfold wrote, a `human` or `ai` one with texts, to a message.
   *
   * @param among messages of the conversation, for formats whose messages are instances of a class
   */
  write(entry: IContent, among: readonly Message[]): Message;

  /**
   * Whether a message holds instructions for the model. At the start of a conversation, instructions may differ from call to call.
   * Called with any value; never throws. @default no message does
   */
  isInstruction?(message: Message): boolean;

  /** Whether providers may refuse a request that begins with this pinned message, as with one of the model. @default no message */
  mayNotOpen?(message: Message): boolean;

  /** Returns the reasoning policy for a model, for calls that do not state it. @default none */
  reasoningOf?(modelName: string | undefined): ReasoningPolicy | undefined;

  /** Handles citations by number. @default answers do not cite by number */
  readonly citations?: Citations<Message> | undefined;

  /** How compactions made by the provider are represented. @default not supported */
  readonly provider?: ProviderMessages<Message> | undefined;
}

/** Citations of documents and search results by their numbers among those of the whole request. */
export interface Citations<Message> {
  /** Returns the number of documents and search results in a message. */
  count(message: Message): number;
  /** Returns the message without citations by number; the same object if it has none. */
  remove(message: Message): Message;
}

/** Compactions by the provider in a format. */
export interface ProviderMessages<Message> {
  /** Whether pinned messages may precede the compaction; if not, the compacted head ends before the first pinned message. */
  readonly allowsPinned: boolean;
  /** Whether the messages before this boundary can be compacted while those after it stay unchanged. */
  divides(before: Message, behind: Message): boolean;
  /** Converts the provider's answer, unchanged, to a message; `among` as in `MessageFormat.write`. */
  write(data: unknown, among: readonly Message[]): Message;
}
