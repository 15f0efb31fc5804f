// Checks a history or a request against a provider's rules. Repairs nothing and makes no requests.

import type { IContent } from '../content.js';
import { assertHistory, overUncheckedEntries } from '../ingestion.js';
import { withoutUndefined } from '../json.js';
import { assertArray, assertBoolean, assertTokens, kindOf, readOptions } from '../misuse.js';
import type { Checks } from '../misuse.js';
import { shownText } from '../shown-text.js';
import type { ProviderRequest, ProviderRequestOptions } from './provider-request.js';
import { PROVIDER_PROFILES } from './provider-violation.js';
import type { ProviderProfile, ProviderRule, ProviderViolation } from './provider-violation.js';
import { readHistory } from './read-history.js';
import { RULES_OF_PROFILE } from './rules-of-profile.js';
import type { RuleOfProfile } from './rules-of-profile.js';

/**
 * Lists what a provider would refuse if the history were sent to it now, in the order of the request. An open call is
 * refused, because nothing may be sent while a tool runs.
 *
 * The history is converted as a careful adapter would: consecutive entries of one side become one message (Anthropic, Bedrock,
 * Gemini), results come first, blank text and reasoning without signature are omitted. `options` adds facts that a history
 * does not contain. Ids of items are checked if signatures contain them. `findViolations` with a base checks that reasoning is
 * unchanged; whether the model still accepts it after edits is checked here if `sentBefore` is given.
 * Linear in the size of the histories.
 *
 * @throws RangeError for an unknown profile or option, or a negative number; TypeError for an invalid history or option.
 */
export function validate(
  history: readonly IContent[],
  profile: ProviderProfile,
  options: ProviderRequestOptions = {},
): readonly ProviderViolation[] {
  if (!PROVIDER_PROFILES.includes(profile)) {
    throw new RangeError(
      `Expected one of ${PROVIDER_PROFILES.join(', ')}, got ${typeof profile === 'string' ? shownText(profile) : kindOf(profile)}.`,
    );
  }
  const given = readOptions('options', options, CHECKS);
  const { sentBefore = [] } = given;
  for (const sent of sentBefore) overUncheckedEntries(SENT_BEFORE, sent, () => undefined);
  return overUncheckedEntries('the history', history, () => {
    try {
      return findRequestViolations(readHistory(history, profile, given), profile);
    } catch (thrown) {
      for (const sent of sentBefore) assertHistory(SENT_BEFORE, sent);
      throw thrown;
    }
  });
}

const CHECKS: Checks<ProviderRequestOptions> = {
  thinking: assertBoolean,
  definesTools: assertBoolean,
  allowsPrefill: assertBoolean,
  requiresThoughtSignatures: assertBoolean,
  allowsTextBesideResults: assertBoolean,
  cacheBreakpoints: assertTokens,
  sentBefore: assertArray,
};

const SENT_BEFORE = 'a history that was sent before';

/** Lists what a provider would refuse in a request, in its order. Linear. */
export function findRequestViolations(
  request: ProviderRequest,
  profile: ProviderProfile,
): readonly ProviderViolation[] {
  const rules = Object.entries(RULES_OF_PROFILE[profile]) as [ProviderRule, RuleOfProfile][];
  return rules
    .flatMap(([rule, { find, say }]) =>
      find(request).map((finding): ProviderViolation => {
        const { turn, part, subject = '' } = finding;
        const message = say({ turn, part: part ?? 0, subject });
        const told = withoutUndefined({ part, causedBy: finding.cause });
        return { rule, message, turn, ...told, ...placeOf(request, turn, part) };
      }),
    )
    .sort((a, b) => a.turn - b.turn || (a.part ?? -1) - (b.part ?? -1));
}

function placeOf(
  { turns }: ProviderRequest,
  turn: number,
  part: number | undefined,
): Pick<ProviderViolation, 'entry' | 'block'> {
  const at = part === undefined ? undefined : turns[turn]?.parts[part];
  return withoutUndefined({ entry: at?.entry ?? turns[turn]?.entry, block: at?.block });
}
