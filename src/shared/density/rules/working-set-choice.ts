// What a user can choose for the working set: rules by name, or what the agent brings along.

import { AGGRESSIVE_WORKING_SET, DEFAULT_WORKING_SET } from './working-set-rules.js';
import type { WorkingSetRules } from './working-set-rules.js';

/** The values of the setting `compression.density.workingSet`. */
export const WORKING_SET_CHOICES = ['preset', 'off', 'default', 'aggressive'] as const;

export type WorkingSetChoice = (typeof WORKING_SET_CHOICES)[number];

/**
 * Returns the rules of a choice; `undefined` is no working set.
 *
 * @param preset the rules that a session was created with
 */
export function workingSetOf(
  choice: WorkingSetChoice,
  preset: WorkingSetRules | undefined,
): WorkingSetRules | undefined {
  switch (choice) {
    case 'preset':
      return preset;
    case 'off':
      return undefined;
    case 'default':
      return DEFAULT_WORKING_SET;
    case 'aggressive':
      return AGGRESSIVE_WORKING_SET;
  }
}
