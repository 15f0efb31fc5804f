// General checks: order of roles, empty messages, texts that cannot be encoded, too many cache breakpoints.

import { isBlank } from '../content.js';
import { hasLoneSurrogate } from '../validity.js';
import { eachPart, eachTurn } from './provider-request.js';
import type { Check, Finding } from './provider-request.js';

/** The conversation does not start with a user turn. */
export const startsWithoutUser: Check = ({ turns }) =>
  turns[0] === undefined || turns[0].role === 'user' ? [] : [{ turn: 0 }];

/** A turn has the same role as the one before it. */
export const repeatsRole: Check = eachTurn(({ role }, at, turns) =>
  turns[at - 1]?.role === role ? {} : undefined,
);

/** The last turn is the assistant's, and the model does not accept that. */
export const endsWithAssistant: Check = ({ turns, allowsPrefill = true }) =>
  !allowsPrefill && turns.at(-1)?.role === 'assistant' ? [{ turn: turns.length - 1 }] : [];

/** A turn has no parts; the subject is its role. */
export const holdsNothing: Check = eachTurn(({ role, parts }) =>
  parts.length === 0 ? { subject: role } : undefined,
);

/** As `holdsNothing`, except that the last turn may be an empty one of the assistant. */
export const holdsNothingBeforeEnd: Check = eachTurn(({ role, parts }, at, turns) => {
  const mayBeEmpty = role === 'assistant' && at === turns.length - 1;
  return parts.length === 0 && !mayBeEmpty ? { subject: role } : undefined;
});

/** An assistant turn has no parts. */
export const assistantHoldsNothing: Check = eachTurn(({ role, parts }) =>
  role === 'assistant' && parts.length === 0 ? { subject: role } : undefined,
);

/** A text is blank; the subject is the text. */
export const hasBlankText: Check = eachPart((part) =>
  part.kind === 'text' && isBlank(part.text) ? part.text : false,
);

/** The last turn is the assistant's and ends with white space. */
export const endsInWhitespace: Check = ({ turns }) => {
  const turn = turns.at(-1);
  const part = turn?.parts.at(-1);
  if (turn?.role !== 'assistant' || part?.kind !== 'text' || !/\s/.test(part.text.slice(-1))) {
    return [];
  }
  return [{ turn: turns.length - 1, part: turn.parts.length - 1 }];
};

/** A text or key of a part has half of a surrogate pair. Reads every payload. */
export const hasHalfPair: Check = eachPart(({ content }) => hasLoneSurrogate(content));

const MAX_CACHE_BREAKPOINTS = 4;

/** There are more than four cache breakpoints. Found at the fifth; the subject is their number. */
export const hasManyCacheBreakpoints: Check = ({ turns, cacheBreakpoints = 0 }) => {
  const places = turns.flatMap(({ parts }, turn) =>
    parts.flatMap(({ hasCacheControl }, part): readonly Finding[] =>
      hasCacheControl === true ? [{ turn, part }] : [],
    ),
  );
  const count = places.length + cacheBreakpoints;
  const first = places[Math.max(0, MAX_CACHE_BREAKPOINTS - cacheBreakpoints)] ?? { turn: 0 };
  return count > MAX_CACHE_BREAKPOINTS ? [{ ...first, subject: String(count) }] : [];
};
