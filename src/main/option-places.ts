// Where each option belongs, so that the refusal of a misplaced one names its place.

import type { OptionsElsewhere } from '../shared/misuse.js';
import { COMPACTOR_OPTIONS } from './compactor-options.js';
import { DENSITY_OPTIONS, SESSION_OPTIONS, CHECKS_OF_ADAPTERS } from './session-options.js';
import { SETTING_KEYS } from './settings/settings-registry.js';

/** The options of every place, the likeliest place of a name first. */
export const OPTION_PLACES: OptionsElsewhere = {
  '`density`': DENSITY_OPTIONS,
  'the `settings` of createCompactor': SETTING_KEYS,
  createCompactor: COMPACTOR_OPTIONS,
  'createSession or of an adapter': Object.keys(CHECKS_OF_ADAPTERS),
  createSession: SESSION_OPTIONS,
  'an adapter': ['maxConversations', 'onSession', 'onError'],
  'each call of a message compactor': [
    'conversationId',
    'modelName',
    'signal',
    'reportedInputTokens',
    'reportedCacheReadTokens',
    'refusal',
  ],
};
