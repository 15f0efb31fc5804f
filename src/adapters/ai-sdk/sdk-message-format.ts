// The message format of AI SDK 6 and 7: reads messages as entries, and applies edits to them. Serves `ModelMessage` and the prompt
// of a language model, which differ only in parts that are not interpreted.

import { kindOf } from '../../shared/misuse.js';
import { isRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { isStripped } from '../../main/preflight/reasoning-policy.js';
import { isBlank } from '../../shared/content.js';
import type { ContentBlock, Speaker } from '../../shared/content.js';
import { tokensOfCharacters } from '../../shared/tokens/estimate.js';
import { isInstruction } from '../format/blocks.js';
import {
  optionsReasoningBlock,
  optionsReasoning,
  withoutOptionsReasoning,
} from '../format/options-reasoning.js';
import { isSameButForCacheMarks } from '../format/cache-marks.js';
import type {
  MessageFormat,
  MessageReader,
  PartEdits,
  PlacedBlock,
  Reading,
} from '../format/message-format.js';
import { editedContent } from '../format/part-edits.js';
import { PinnedCalls, WholeExchanges } from '../format/pinned-calls.js';
import { groupOfCalls, placed, textsOf } from '../format/placed.js';
import { plainData, spreadable } from '../format/plain-data.js';
import { isSameValue } from '../format/same-value.js';
import { ITEM_PROVIDER_MESSAGES } from '../format/provider-compaction.js';
import { reasoningOfHosted } from '../request/claude-reasoning.js';
import { isSigned, opaque, readPart } from './read-part.js';
import { partsOf, textPart, callsIn } from './sdk-message.js';
import type { SdkMessage, SdkPart, ApprovedCalls } from './sdk-message.js';
import { rewriteToolOutput } from './tool-output.js';

const SPEAKERS: Readonly<Record<string, Speaker>> = {
  user: 'human',
  assistant: 'ai',
  tool: 'tool',
};

/** The format of `ModelMessage`. System messages are pinned. */
export const MODEL_MESSAGE_FORMAT: MessageFormat<SdkMessage> = {
  sdk: 'ai',
  createReader: () => new SdkMessageReader(),
  isSame,
  rewrite: rewriteMessage,
  isInstruction,
  reasoningOf: reasoningOfHosted,
  mayNotOpen: ({ role }) => role === 'assistant',
  // Parts, because a model's prompt accepts no string.
  write: ({ speaker, blocks }) => ({
    role: speaker === 'human' ? 'user' : 'assistant',
    content: textsOf(blocks).map(textPart),
  }),
  // A compaction is a message of its own, as in the SDK.
  provider: ITEM_PROVIDER_MESSAGES,
};

/** The format of a model's prompt. Another object, because prompts are separate conversations. */
export const PROMPT_FORMAT: MessageFormat<SdkMessage> = { ...MODEL_MESSAGE_FORMAT };

/**
 * Compares results without their options. The SDK copies these from the call, such as the id of its item, but not where it has run an
 * approved call itself; converted UI messages always have them.
 */
function isSame(a: SdkMessage, b: SdkMessage): boolean {
  if (isSameButForCacheMarks(a, b)) return true;
  // In this order: only values that are the same are known to be messages.
  return isSameValue(a, b, (key) => key === 'providerOptions') && a.role === 'tool';
}

/** Pins system messages, and what the provider needs unchanged. */
class SdkMessageReader implements MessageReader<SdkMessage> {
  readonly #approved: ApprovedCalls = new Map();
  readonly #pinned = new PinnedCalls();
  readonly #whole = new WholeExchanges();

  read(given: SdkMessage, index: number, reading: Reading): void {
    const message = plainData(given, `message ${index}`);
    assertMessage(message, index);
    const { role, content } = message;
    const speaker = SPEAKERS[role];
    if (speaker === undefined) {
      reading.pinnedTokens += tokensOfCharacters(content.length);
      return;
    }
    const parts = partsOf(message);
    const calls = callsIn(parts, this.#approved);
    const blocks = this.#readParts(message, parts, index);
    if (this.#pinned.pins(calls)) {
      this.#whole.take({ ...calls, blocks: wholeBlocks(parts, blocks) }, reading);
    } else this.#whole.pass([{ speaker, blocks }], reading);
  }

  end(reading: Reading): void {
    this.#whole.end(reading);
  }

  #readParts(
    message: SdkMessage,
    parts: readonly SdkPart[],
    index: number,
  ): readonly PlacedBlock[] {
    const { role } = message;
    const blocks = parts.map((part, number) =>
      readPart(part, {
        role,
        where: `message ${index}, part ${number}`,
        approved: this.#approved,
      }),
    );
    const signed = parts
      .filter((_, at) => blocks[at]?.type === 'tool_call')
      .map((call) => isSigned(call) || optionsReasoningOf(call).length > 0);
    const group = groupOfCalls(signed, index);
    const read = blocks.map((block, number) =>
      placed(block.type === 'tool_call' ? { ...block, ...group } : block, index, number),
    );
    if (role !== 'assistant') return read;
    const isInParts = parts.some(({ type }) => type === 'reasoning');
    const reasoning = optionsReasoningBlock(
      [message, ...parts.filter(isCall)].flatMap(optionsReasoningOf),
      isInParts,
    );
    // Carried reasoning is sent before the step's parts, but its part index is the one after the last part.
    return reasoning === undefined ? read : [placed(reasoning, index, parts.length), ...read];
  }
}

/** Returns the blocks of a message that must stay whole: reasoning, texts (for summaries), and opaque blocks for all other parts. */
function wholeBlocks(
  parts: readonly JsonRecord[],
  blocks: readonly PlacedBlock[],
): readonly PlacedBlock[] {
  return blocks.map((block) =>
    (block.type === 'text' && !isBlank(block.text)) || isStripped(block)
      ? block
      : { ...opaque(parts[block.origin[1]] ?? {}), origin: block.origin },
  );
}

function assertMessage(message: unknown, index: number): asserts message is SdkMessage {
  const where = `message ${index}`;
  if (!isRecord(message)) {
    throw new TypeError(`Expected a message of the AI SDK at ${where}, got ${typeof message}.`);
  }
  const { role, content } = message;
  if (role !== 'system' && (typeof role !== 'string' || !Object.hasOwn(SPEAKERS, role))) {
    throw new TypeError(
      `Expected 'system', 'user', 'assistant' or 'tool' at ${where}.role, got ${kindOf(role)}.`,
    );
  }
  if (
    typeof content === 'string' ? role === 'tool' : !Array.isArray(content) || role === 'system'
  ) {
    const expected = role === 'system' ? 'a string' : 'an array of parts';
    throw new TypeError(`Expected ${expected} at ${where}.content, got ${typeof content}.`);
  }
}

function rewriteMessage(given: SdkMessage, edits: PartEdits): SdkMessage {
  const message = spreadable(given);
  const { content } = message;
  const edited = editedContent(content, edits, rewritePart) as SdkMessage['content'];
  if (edits.get(partsOf(message).length) !== null) return { ...message, content: edited };
  return {
    ...stripOptionsReasoning(message),
    content: typeof edited === 'string' ? edited : edited.map(stripOptionsReasoning),
  };
}

function isCall({ type }: SdkPart): boolean {
  return type === 'tool-call';
}

function optionsOf(holder: object): unknown {
  return (holder as JsonRecord)['providerOptions'];
}

function optionsReasoningOf(holder: SdkMessage | SdkPart): readonly JsonRecord[] {
  return optionsReasoning(optionsOf(holder));
}

function stripOptionsReasoning<Holder extends SdkMessage | SdkPart>(holder: Holder): Holder {
  if (optionsReasoningOf(holder).length === 0) return holder;
  return { ...holder, providerOptions: withoutOptionsReasoning(optionsOf(holder)) };
}

function rewritePart(part: SdkPart, edit: ContentBlock): SdkPart {
  if (edit.type === 'text') return { ...part, ...textPart(edit.text) };
  if (edit.type === 'tool_call') return { ...part, ...{ input: edit.parameters } };
  const { output, toolName }: JsonRecord = part;
  if (edit.type !== 'tool_response' || !isRecord(output)) return part;
  return { ...part, output: rewriteToolOutput(output, edit.result, toolName) } as SdkPart;
}
