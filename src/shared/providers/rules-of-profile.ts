// The rules of each provider: a check, and the provider's message for each finding, as observed from the services.

import * as conversation from './conversation-checks.js';
import type { Check, Finding } from './provider-request.js';
import type { ProviderProfile, ProviderRule } from './provider-violation.js';
import * as reasoning from './reasoning-checks.js';
import * as tools from './tool-checks.js';

/** A rule of one provider. */
export interface RuleOfProfile {
  readonly find: Check;
  /** Returns the provider's message for a finding. */
  readonly say: (finding: MessageFacts) => string;
}

/** The parts of a finding that messages mention. */
type MessageFacts = Required<Omit<Finding, 'cause'>>;

/** The rules of one provider by name. */
export type RulesOfProfile = Readonly<Partial<Record<ProviderRule, RuleOfProfile>>>;

const PREFILL =
  'This model does not support assistant message prefill. The conversation must end with a user message.';

const BOUND: RuleOfProfile = {
  find: reasoning.isBoundElsewhere,
  say: ({ turn, part }) =>
    `messages.${turn}.content.${part}: Invalid \`signature\` in \`thinking\` block. The block is bound to a different conversation. ` +
    'Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
};

const ANTHROPIC: RulesOfProfile = {
  'first-turn': {
    find: conversation.startsWithoutUser,
    say: () => 'messages: first message must use the "user" role',
  },
  prefill: { find: conversation.endsWithAssistant, say: () => PREFILL },
  'tool-result-missing': {
    find: tools.unanswered,
    say: ({ turn, subject }) =>
      `messages.${turn}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${subject}. ` +
      'Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
  },
  'tool-call-missing': {
    find: tools.uncalledInTurnBefore,
    say: ({ turn, part, subject }) =>
      `messages.${turn}.content.${part}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${subject}. ` +
      'Each `tool_result` block must have a corresponding `tool_use` block in the previous message.',
  },
  'tool-result-repeated': {
    find: tools.answeredTwiceInTurn,
    say: ({ turn, part, subject }) =>
      `messages.${turn}.content.${part}: each tool_use must have a single result. ` +
      `Found multiple \`tool_result\` blocks with id: ${subject}`,
  },
  'tool-result-not-first': {
    find: tools.resultsNotFirst,
    say: ({ turn, subject }) =>
      `messages.${turn}: Did not find ${subject} tool_result block(s) at the beginning of this message. ` +
      'Messages following tool_use blocks must begin with a matching number of tool_result blocks.',
  },
  'tool-result-empty': {
    find: tools.failsSilently,
    say: ({ turn, part }) =>
      `messages.${turn}.content.${part}.tool_result: content cannot be empty if \`is_error\` is true`,
  },
  'call-id-repeated': {
    find: tools.repeatsCallId,
    say: ({ turn, part }) => `messages.${turn}.content.${part}: \`tool_use\` ids must be unique`,
  },
  'call-id-pattern': {
    find: tools.hasOddCallId,
    say: ({ turn, part }) =>
      `messages.${turn}.content.${part}.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'`,
  },
  'call-arguments': {
    find: tools.hasOddArguments,
    say: ({ turn, part }) =>
      `messages.${turn}.content.${part}.tool_use.input: Input should be a valid dictionary`,
  },
  'thinking-missing': {
    find: reasoning.startsWithoutThinking,
    say: ({ turn, part, subject }) =>
      `messages.${turn}.content.${part}.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${subject}\`. ` +
      'When `thinking` is enabled, a final `assistant` message must start with a thinking block ' +
      '(preceeding the lastmost set of `tool_use` and `tool_result` blocks).',
  },
  'thinking-unexpected': {
    find: reasoning.endsWithThinking,
    say: ({ turn, part }) =>
      `messages.${turn}.content.${part}: When thinking is disabled, an \`assistant\` message in the final position ` +
      'cannot contain `thinking`.',
  },
  'thinking-unsigned': {
    find: reasoning.isUnsigned,
    say: ({ turn, part }) => `messages.${turn}.content.${part}.thinking.signature: Field required`,
  },
  'reasoning-bound': BOUND,
  'thinking-last': {
    find: reasoning.closesWithThinking,
    say: ({ turn }) =>
      `messages.${turn}: The final block in an assistant message cannot be \`thinking\`.`,
  },
  'empty-message': {
    find: conversation.holdsNothingBeforeEnd,
    say: ({ turn, subject }) =>
      subject === 'user'
        ? `messages.${turn}: user messages must have non-empty content`
        : `messages.${turn}: all messages must have non-empty content except for the optional final assistant message`,
  },
  'blank-text': {
    find: conversation.hasBlankText,
    say: ({ subject }) =>
      subject === ''
        ? 'messages: text content blocks must be non-empty'
        : 'messages: text content blocks must contain non-whitespace text',
  },
  'trailing-whitespace': {
    find: conversation.endsInWhitespace,
    say: () => 'messages: final assistant content cannot end with trailing whitespace',
  },
  'cache-control-count': {
    find: conversation.hasManyCacheBreakpoints,
    say: ({ subject }) =>
      `A maximum of 4 blocks with cache_control may be provided. Found ${subject}.`,
  },
  'lone-surrogate': {
    find: conversation.hasHalfPair,
    say: () => 'The request body is not valid JSON: no low surrogate in string',
  },
};

const OPENAI_CHAT: RulesOfProfile = {
  prefill: {
    find: conversation.endsWithAssistant,
    say: () =>
      'Expected last role User or Tool (or Assistant with prefix True) for serving but got assistant',
  },
  'tool-result-missing': {
    find: tools.unanswered,
    say: ({ subject }) =>
      "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${subject}`,
  },
  'tool-call-missing': {
    find: tools.messagesWithoutCalls,
    say: () =>
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.",
  },
  'tool-call-unknown': {
    find: tools.messagesOfOtherCalls,
    say: ({ subject }) =>
      `Invalid parameter: 'tool_call_id' of '${subject}' not found in 'tool_calls' of previous message.`,
  },
  'tool-result-repeated': {
    find: tools.answeredTwiceByMessages,
    say: () => "Duplicate value for 'tool_call_id'",
  },
  'call-arguments': {
    // OpenAI itself accepts them, but chat templates of compatible servers do not.
    find: tools.hasOddArguments,
    say: () => 'Can only get item pairs from a mapping.',
  },
  'empty-message': {
    find: conversation.assistantHoldsNothing,
    say: () => "Invalid value for 'content': expected a string, got null.",
  },
};

const OPENAI_RESPONSES: RulesOfProfile = {
  'tool-result-missing': {
    find: tools.callsWithoutOutput,
    say: ({ subject }) => `No tool output found for function call ${subject}.`,
  },
  'tool-call-missing': {
    find: tools.outputsWithoutCall,
    say: ({ subject }) => `No tool call found for function call output with call_id ${subject}.`,
  },
  'reasoning-alone': {
    find: reasoning.standsAlone,
    say: ({ subject }) =>
      `Item '${subject}' of type 'reasoning' was provided without its required following item.`,
  },
  'reasoning-bound': {
    find: reasoning.isBoundElsewhere,
    // The request is not refused; the response reports what was removed.
    say: ({ subject }) =>
      `input_transformations: {"type":"reasoning","action":"removed","id":${JSON.stringify(subject)},"reason":"prefix_mismatch"}`,
  },
  'item-id-repeated': {
    find: tools.repeatsItemId,
    say: ({ subject }) =>
      `Duplicate item found with id ${subject}. Remove duplicate items from your input and try again.`,
  },
  'item-id-prefix': {
    find: tools.hasOddItemId,
    say: ({ turn, subject }) =>
      `Invalid 'input[${turn}].id': '${subject}'. Expected an ID that begins with 'fc'.`,
  },
};

const GEMINI: RulesOfProfile = {
  'first-turn': {
    find: conversation.startsWithoutUser,
    say: () => "First content should be with role 'user', got model",
  },
  prefill: {
    find: conversation.endsWithAssistant,
    say: () => 'Requests ending with a model turn are not supported',
  },
  'call-placement': {
    find: tools.callsAfterAssistant,
    say: () =>
      'Please ensure that function call turn comes immediately after a user turn or after a function response turn.',
  },
  'tool-result-count': {
    find: tools.countsDiffer,
    say: () =>
      'Please ensure that the number of function response parts is equal to the number of function call parts ' +
      'of the function call turn.',
  },
  'tool-call-missing': {
    find: tools.resultsWithoutCalls,
    say: () =>
      'Please ensure that function response turn comes immediately after a function call turn.',
  },
  'call-arguments': {
    find: tools.hasOddArguments,
    say: ({ turn, part }) =>
      `Invalid value at 'contents[${turn}].parts[${part}].function_call.args' (type.googleapis.com/google.protobuf.Struct)`,
  },
  'thought-signature-missing': {
    find: reasoning.callsWithoutSignature,
    say: ({ turn, subject }) =>
      'Function call is missing a thought_signature in functionCall parts. This is required for tools to work ' +
      'correctly, and missing thought_signature may lead to degraded model performance. ' +
      `Additional data, function call \`default_api:${subject}\`, position ${turn + 1}.`,
  },
  'empty-message': {
    find: conversation.holdsNothing,
    say: ({ turn }) =>
      `* GenerateContentRequest.contents[${turn}].parts: contents.parts must not be empty.`,
  },
  'lone-surrogate': {
    find: conversation.hasHalfPair,
    say: () => 'The input data is not valid json',
  },
};

const BEDROCK: RulesOfProfile = {
  'reasoning-bound': BOUND,
  'first-turn': {
    find: conversation.startsWithoutUser,
    say: () =>
      'A conversation must start with a user message. Try again with a conversation that starts with a user message.',
  },
  alternation: {
    find: conversation.repeatsRole,
    say: () => 'A conversation must alternate between user and assistant roles.',
  },
  prefill: { find: conversation.endsWithAssistant, say: () => PREFILL },
  'tool-result-missing': {
    find: tools.unanswered,
    say: ({ turn, subject }) =>
      `Expected toolResult blocks at messages.${turn + 1}.content for the following Ids: ${subject}`,
  },
  'tool-result-count': {
    find: tools.moreResultsThanCalls,
    say: ({ turn }) =>
      `The number of toolResult blocks at messages.${turn}.content exceeds the number of toolUse blocks of previous turn.`,
  },
  'tool-result-mixed': {
    find: tools.resultsMixed,
    say: ({ turn }) =>
      `messages.${turn}.content: Conversation blocks and tool result blocks cannot be provided in the same turn.`,
  },
  'tool-result-empty': {
    find: tools.failsSilently,
    say: ({ turn, part }) =>
      `The content field at messages.${turn}.content.${part}.toolResult cannot be empty when status value is error.`,
  },
  'call-arguments': {
    find: tools.hasOddArguments,
    say: ({ turn, part }) =>
      `The format of the value at messages.${turn}.content.${part}.toolUse.input is invalid. ` +
      'Provide a json object for the field and try again.',
  },
  'tools-undefined': {
    find: tools.usesUndefinedTools,
    say: () =>
      'The toolConfig field must be defined when using toolUse and toolResult content blocks.',
  },
  'empty-message': {
    find: conversation.holdsNothing,
    say: ({ turn }) =>
      `The content field in the Message object at messages.${turn} is empty. ` +
      'Add a ContentBlock object to the content field and try again.',
  },
  'blank-text': {
    find: conversation.hasBlankText,
    say: ({ turn, part }) =>
      `The text field in the ContentBlock object at messages.${turn}.content.${part} is blank. ` +
      'Add text to the text field, and try again.',
  },
};

/** The rules by provider. */
export const RULES_OF_PROFILE: Readonly<Record<ProviderProfile, RulesOfProfile>> = {
  anthropic: ANTHROPIC,
  'openai-chat': OPENAI_CHAT,
  'openai-responses': OPENAI_RESPONSES,
  gemini: GEMINI,
  bedrock: BEDROCK,
};
