// The port between the messages of an SDK and a conversation: how messages are read as entries, and
// how what an edit left of an entry is written back into them. Formats implement it; they hold no
// conversation, run no compaction and know no session.

import type { ContentBlock, IContent, Speaker } from '../shared/content.js';

/**
 * Where a block comes from: the index of its message among all messages of the conversation, and the
 * index of its part in that message. A message that is one text has part 0.
 */
export type Origin = readonly [message: number, part: number];

/** A block that knows its part. Edits copy a block with all that it carries, so the origin stays. */
export type PlacedBlock = ContentBlock & { readonly origin: Origin };

/** An entry whose blocks know their parts. The blocks of one message may be spread over several entries. */
export interface PlacedEntry extends IContent {
  readonly speaker: Speaker;
  readonly blocks: readonly PlacedBlock[];
}

/** Messages as entries. */
export interface Reading {
  readonly entries: readonly PlacedEntry[];
  /**
   * About how many tokens the messages take that stand in no entry. These are pinned: carried where
   * they are as they are, whatever happens to the others. System messages are, and what may be neither
   * edited nor dropped.
   */
  readonly pinnedTokens: number;
}

/** Reads the messages of one conversation in their order, and remembers what later ones refer to. */
export interface MessageReader<Message> {
  /**
   * Reads further messages. Every part of a message that is not pinned becomes a block: what a part
   * of an unknown kind says is not looked into, it becomes an `opaque` block.
   *
   * @param firstIndex the index of the first of them in the conversation, for origins
   * @throws TypeError naming message and part for what is no message of this format
   */
  read(messages: readonly Message[], firstIndex: number): Reading;

  /**
   * The same, yielding where others may have a turn. For a reader to which a message depends on those behind it.
   *
   * @default reads the parts of a list as it reads the whole
   */
  readInSlices?(messages: readonly Message[], firstIndex: number): ReadingInSlices;
}

/** A reading that is under way. */
export type ReadingInSlices = Generator<void, Reading, undefined>;

/**
 * By part, what became of it: `null` when it is gone, or the block that stands in its place. That is
 * a `text` with another text, or a `tool_response` whose `result` is a string now.
 */
export type PartEdits = ReadonlyMap<number, ContentBlock | null>;

/** A message format. Stateless: one instance serves all conversations. */
export interface MessageFormat<Message> {
  /** Makes the reader of a new conversation. */
  createReader(): MessageReader<Message>;

  /**
   * Whether two messages say the same to the byte. Asked when they are not the same object, also of what is no message
   * at all; never throws.
   */
  isSame(a: Message, b: Message): boolean;

  /**
   * Returns the message with some of its parts edited, at least one of which is left. Parts without an
   * edit are the same objects, and what the message and an edited part carry besides stays as it is.
   */
  rewrite(message: Message, edits: PartEdits): Message;

  /**
   * Makes a message of an entry that ctxfold wrote: a `human` or an `ai` one that holds texts.
   *
   * @param among messages of the conversation, for formats in which a message has a class
   */
  write(entry: IContent, among: readonly Message[]): Message;

  /** How what a provider itself made of messages stands among them. @default its compaction cannot be carried */
  readonly provider?: ProviderMessages<Message> | undefined;
}

/** What a format knows of compactions by its provider. */
export interface ProviderMessages<Message> {
  /** Whether messages that may not be edited can stand before what the provider made; else none are compacted with one among them. */
  readonly takesPinned: boolean;
  /** Whether the messages before this boundary can be compacted, and those behind it stay as they are. */
  divides(before: Message, behind: Message): boolean;
  /** Makes a message of what the provider answered, as it came; `among` as of the format. */
  write(data: unknown, among: readonly Message[]): Message;
}
