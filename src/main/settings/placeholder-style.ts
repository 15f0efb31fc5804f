// What a user can choose to stand in place of results; what becomes of that choice depends on whether
// originals can be got back.

import type { PlaceholderForm } from '../../shared/density.js';

/** The values of the setting `compression.density.placeholder`. */
export const PLACEHOLDER_STYLES = ['pointer', 'informative'] as const;

export type PlaceholderStyle = (typeof PLACEHOLDER_STYLES)[number];

/** Returns the form of a style in a session that has a transcript to recall from, or has none. */
export function placeholderFormOf(style: PlaceholderStyle, canRecall: boolean): PlaceholderForm {
  return style === 'informative' && canRecall ? 'recallable' : style;
}
