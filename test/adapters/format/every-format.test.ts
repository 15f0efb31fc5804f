// What holds for the messages of every SDK: each part is read once, unedited messages stay the same objects, and edits keep calls
// and results together.

import fc from 'fast-check';
import type { BaseMessage } from '@langchain/core/messages';
import { describe, expect, it } from 'vitest';

import { MODEL_MESSAGE_FORMAT } from '../../../src/adapters/ai-sdk/sdk-message-format.js';
import { partsOf } from '../../../src/adapters/ai-sdk/sdk-message.js';
import { MESSAGE_PARAM_FORMAT } from '../../../src/adapters/anthropic/message-param-format.js';
import { MessageView } from '../../../src/adapters/conversation/message-view.js';
import type { MessageFormat } from '../../../src/adapters/format/message-format.js';
import { mediaOfResponses } from '../../../src/adapters/google/read-part.js';
import { contentFormat } from '../../../src/adapters/google/content-format.js';
import { baseMessageFormat } from '../../../src/adapters/langchain/base-message-format.js';
import { agentItemFormat } from '../../../src/adapters/openai/agent-item-format.js';
import { chatMessageFormat } from '../../../src/adapters/openai/chat-message-format.js';
import { responseItemFormat } from '../../../src/adapters/openai/response-item-format.js';
import { storedMessageFormat } from '../../../src/adapters/opencode/stored-message-format.js';
import { agentMessageFormat } from '../../../src/adapters/pi/agent-message-format.js';
import type { IContent } from '../../../src/shared/content.js';
import { applyDensityResult, DEFAULT_DENSITY_CONFIG } from '../../../src/shared/density.js';
import { optimize } from '../../../src/shared/density/plan/optimize.js';
import { assertIngestible } from '../../../src/shared/ingestion.js';
import { runSlices } from '../../../src/shared/slices.js';
import { findViolations } from '../../../src/shared/validity.js';
import { deepFreeze } from '../../support/deep-freeze.js';
import { readAll, readInto } from '../../support/read-all.js';
import { runs } from '../../support/scale.js';
import { arbitraryMessages as ofAiSdk } from '../ai-sdk/arbitrary-messages.js';
import { arbitraryMessages as ofAnthropic } from '../anthropic/arbitrary-messages.js';
import { arbitraryContents } from '../google/arbitrary-contents.js';
import { arbitraryBaseMessages } from '../langchain/arbitrary-base-messages.js';
import { arbitraryTalk } from '../openai/arbitrary-talks.js';
import { arbitraryMessages as ofOpenCode } from '../opencode/opencode-messages.js';
import { arbitraryMessages as ofPi } from '../pi/pi-messages.js';

interface Subject {
  readonly format: MessageFormat<object>;
  readonly messages: fc.Arbitrary<readonly object[]>;
  /** Number of parts of a message, where each is a block. */
  readonly countParts?: (message: object) => number;
  /** By part, the part whose block it belongs to. @default each part has its own block */
  readonly ownersOf?: (message: object) => ReadonlyMap<number, number>;
  /** Whether consecutive messages that arrive together are one entry. */
  readonly joins?: true;
}

function subject<Message extends object>(
  format: MessageFormat<Message>,
  messages: fc.Arbitrary<readonly Message[]>,
  countParts?: (message: Message) => number,
  ownersOf?: (message: Message) => ReadonlyMap<number, number>,
): Subject {
  return {
    format,
    messages,
    ...(countParts && { countParts }),
    ...(ownersOf && { ownersOf }),
  } as unknown as Subject;
}

/** Number of parts in the content of a message; a text is one. */
function contentParts(message: object): number {
  return 'content' in message && Array.isArray(message.content) ? message.content.length : 1;
}

const items = { joins: true } as const;

const SUBJECTS: Readonly<Record<string, Subject>> = {
  'the AI SDK': subject(MODEL_MESSAGE_FORMAT, ofAiSdk(), (message) => partsOf(message).length),
  Anthropic: subject(MESSAGE_PARAM_FORMAT, ofAnthropic, contentParts),
  Google: subject(
    contentFormat,
    arbitraryContents,
    ({ parts = [] }) => parts.length,
    ({ role, parts = [] }) => (role === 'model' ? new Map() : mediaOfResponses(parts)),
  ),
  LangChain: subject<BaseMessage>(baseMessageFormat, arbitraryBaseMessages),
  'Chat Completions': subject(
    chatMessageFormat,
    arbitraryTalk.map(({ chat }) => chat),
    (message) => {
      const calls = 'tool_calls' in message ? message.tool_calls.length : 0;
      if (message.role === 'tool') return 1;
      return calls + (message.content === null ? 0 : contentParts(message));
    },
  ),
  Responses: {
    ...subject(
      responseItemFormat,
      arbitraryTalk.map(({ responses }) => responses),
      contentParts,
    ),
    ...items,
  },
  'the Agents SDK': {
    ...subject(
      agentItemFormat,
      arbitraryTalk.map(({ agents }) => agents),
    ),
    ...items,
  },
  OpenCode: subject(storedMessageFormat, ofOpenCode),
  pi: subject(agentMessageFormat, ofPi),
};

const CONFIG = { ...DEFAULT_DENSITY_CONFIG, workspaceRoot: '/w' };

describe.each(Object.entries(SUBJECTS))('messages of %s', (_, subjectOf) => {
  const { format, countParts, ownersOf, joins } = subjectOf;
  const messages = subjectOf.messages.map(deepFreeze);

  it('are read with each part as one block of plain data, or pinned', () => {
    fc.assert(
      fc.property(messages, (given) => {
        const { entries } = readAll(format.createReader(), given, 3);
        const origins = entries.flatMap(({ blocks }) => blocks.map(({ origin }) => origin));
        expect(new Set(origins.map((origin) => origin.join())).size).toBe(origins.length);
        given.forEach((message, at) => {
          if (countParts === undefined) return;
          const read = origins.flatMap(([index, part]) => (index === at + 3 ? part : []));
          const all = Array.from({ length: countParts(message) }, (_part, part) => part).filter(
            (part) => ownersOf?.(message).has(part) !== true,
          );
          expect([[], all]).toContainEqual(read.sort((a, b) => a - b));
        });
        entries.forEach((entry, at) => assertIngestible(entry, at));
        expect(JSON.stringify(entries)).not.toContain('iVBOR');
      }),
    );
  });

  it.skipIf(joins)('are read one by one as they are read all at once', () => {
    fc.assert(
      fc.property(messages, (given) => {
        const reader = format.createReader();
        const oneByOne = given.flatMap((message, at) => readAll(reader, [message], at).entries);
        expect(oneByOne).toEqual(readAll(format.createReader(), given, 0).entries);
      }),
    );
  });

  it('are the same objects as long as nothing is edited', () => {
    fc.assert(
      fc.property(messages, (given) => {
        const view = new MessageView(format);
        runSlices(view.followInSlices(readInto(view, given)));
        expect(view.current).toHaveLength(given.length);
        expect(view.current.every((message, at) => message === given[at])).toBe(true);
      }),
    );
  });

  it('keep every result with its call after any pass', () => {
    fc.assert(
      fc.property(messages, (given) => {
        const view = new MessageView(format);
        const entries = readInto(view, given);
        const history = [...entries] as IContent[];
        applyDensityResult(history, optimize(entries, CONFIG));
        runSlices(view.followInSlices(history));
        const again = readAll(format.createReader(), view.current, 0).entries;
        const rulesOf = (of: readonly IContent[]): readonly string[] =>
          findViolations(of).map(({ rule }) => rule);
        const known = [...rulesOf(entries), ...rulesOf(history)];
        expect(rulesOf(again).filter((rule) => !known.includes(rule))).toEqual([]);
        const toolBlocks = (of: readonly IContent[]): number =>
          of.flatMap(({ blocks }) => blocks.filter(({ type }) => type.startsWith('tool_'))).length;
        expect(toolBlocks(again)).toBe(toolBlocks(history));
      }),
      { numRuns: runs(500) },
    );
  });
});
