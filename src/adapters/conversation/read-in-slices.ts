// Reads messages in slices, so that a long conversation does not block the event loop. Knows no format.

import { asError } from '../../shared/errors.js';
import { assertMadeEntry } from '../../shared/ingestion.js';
import { runSlices } from '../../shared/slices.js';
import { UniqueIds } from '../../shared/unique-ids.js';
import type {
  MessageFormat,
  MessageReader,
  PlacedBlock,
  PlacedEntry,
  Reading,
} from '../format/message-format.js';
import { PER_SLICE } from '../format/placed.js';
import { splitAtCompactions } from '../format/provider-compaction.js';
import { ShownImages } from './shown-images.js';

/**
 * Makes the ids of calls unique in blocks, because texts name a result by its id, and finds the images that belong to results. For one
 * conversation.
 */
class EntryReader {
  readonly #ids = new UniqueIds();
  readonly #images = new ShownImages();
  /** By repeated id, the unique id of its newest call. */
  readonly #newest = new Map<string, string>();

  /** Adds an entry of a reader to the entries of the same reading. */
  addTo(entries: PlacedEntry[], entry: PlacedEntry): void {
    const added = this.#images.bind(entries, this.#madeUnique(entry));
    entries.push(...splitAtCompactions(added));
  }

  /** Returns an entry with unique ids, the same one if no id is repeated. */
  #madeUnique(entry: PlacedEntry): PlacedEntry {
    if (entry.speaker === 'ai') {
      const calls = entry.blocks.filter((block) => block.type === 'tool_call');
      for (const id of new Set(calls.map((call) => call.id))) {
        const unique = this.#ids.take(id);
        if (unique !== id) this.#newest.set(id, unique);
      }
    }
    const blocks = entry.blocks.map((block) => this.#withUniqueId(block));
    return blocks.some((block, at) => block !== entry.blocks[at]) ? { ...entry, blocks } : entry;
  }

  #withUniqueId(block: PlacedBlock): PlacedBlock {
    switch (block.type) {
      case 'tool_call': {
        const id = this.#newest.get(block.id);
        return id === undefined ? block : { ...block, id };
      }
      case 'tool_response':
      case 'opaque': {
        const { callId } = block;
        const unique = callId === undefined ? undefined : this.#newest.get(callId);
        return unique === undefined ? block : { ...block, callId: unique };
      }
      default:
        return block;
    }
  }
}

/**
 * Reads messages with a reader.
 *
 * @param entryReader of the entries that the reader has read
 * @throws what the reader throws; TypeError for an entry that no history accepts. The reader has already read some messages then.
 */
export function* readInSlices<Message>(
  reader: MessageReader<Message>,
  messages: readonly Message[],
  firstIndex: number,
  entryReader: EntryReader = new EntryReader(),
): Generator<void, Reading, undefined> {
  const reading: Reading = { entries: [], pinnedTokens: 0 };
  // By index: `entries()` would allocate a pair for each message.
  for (let at = 0; at < messages.length; at += 1) {
    if (at % PER_SLICE === 0) yield;
    reader.read(messages[at] as Message, firstIndex + at, reading);
  }
  reader.end?.(reading);
  const entries: PlacedEntry[] = [];
  for (const entry of reading.entries) {
    if (entries.length % PER_SLICE === 0) yield;
    assertHoldable(entry);
    entryReader.addTo(entries, entry);
  }
  return { ...reading, entries };
}

/** Reads one message by itself. Returns an empty reading if that fails: reading the message as part of its conversation reports why. */
export function readAlone<Message>(
  format: Pick<MessageFormat<Message>, 'createReader'>,
  message: Message,
): Reading {
  try {
    return runSlices(readInSlices(format.createReader(), [message], 0));
  } catch {
    return { entries: [], pinnedTokens: 0 };
  }
}

/** Reads one conversation. Rejected messages leave no trace in the reader. */
export class ConversationReader<Message> {
  readonly #format: Pick<MessageFormat<Message>, 'createReader'>;
  #reader: MessageReader<Message>;
  #entryReader = new EntryReader();
  /** Number of messages in each reading, so that they can be read again in the same batches: a message may depend on its neighbours. */
  readonly #lengths: number[] = [];

  constructor(format: Pick<MessageFormat<Message>, 'createReader'>) {
    this.#format = format;
    this.#reader = format.createReader();
  }

  /**
   * Reads further messages. The next call must have them in `given`, unless they were rejected.
   *
   * @param given all messages that were read before
   * @throws TypeError naming the message, if it is invalid or does not fit into a history
   */
  *read(
    messages: readonly Message[],
    given: readonly Message[],
  ): Generator<void, Reading, undefined> {
    const first = given.length;
    try {
      const reading = yield* readInSlices(this.#reader, messages, first, this.#entryReader);
      this.#lengths.push(messages.length);
      return reading;
    } catch (cause) {
      // The reader has already read some of them, and would remember their tool calls.
      this.#startOver(given);
      if (cause instanceof TypeError) throw cause;
      const which = `messages ${first} to ${first + messages.length - 1}`;
      throw new TypeError(`Expected ${which} to be readable; one of them throws.`, { cause });
    }
  }

  #startOver(given: readonly Message[]): void {
    this.#reader = this.#format.createReader();
    this.#entryReader = new EntryReader();
    let from = 0;
    for (const length of this.#lengths) {
      const messages = given.slice(from, from + length);
      runSlices(readInSlices(this.#reader, messages, from, this.#entryReader));
      from += length;
    }
  }
}

/** Entries of a reader have a valid shape, but may exceed the limits of a history. */
function assertHoldable(entry: PlacedEntry): void {
  const at = entry.blocks[0]?.origin[0] ?? 0;
  try {
    assertMadeEntry(entry, at);
  } catch (cause) {
    const { message } = asError(cause);
    throw new TypeError(`Expected message ${at} to fit into an entry of a history. ${message}`, {
      cause,
    });
  }
}
