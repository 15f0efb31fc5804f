// How reports name calls and files. Redaction replaces each path by a tag with its extension, shows tool names and call ids only
// if they look like plain identifiers, and omits everything else.

import { createHmac, randomBytes } from 'node:crypto';
import type { Subject } from '../measure/call-subject.js';

/** Maps names from the session to the text that a report shows. */
export interface ContentLabel {
  readonly isRedacted: boolean;
  /** The subject of a call; an empty string if it is hidden or unknown. */
  readonly ofCall: (subject: Subject) => string;
  /** A path, or the first of several with a count, as `src/a.ts +2`. */
  readonly ofPath: (path: string) => string;
  /** A tool name or call id. Agents generate them, but a recording may hold anything there. */
  readonly ofName: (name: string) => string;
}

/** Shows everything unchanged. */
export const PLAIN_LABEL: ContentLabel = {
  isRedacted: false,
  ofCall: ({ path, excerpt }) => path ?? excerpt ?? '',
  ofPath: (path) => path,
  ofName: (name) => name,
};

/** Matches generated identifiers, but not free text, paths or assignments. */
const PLAIN_NAME = /^[\w.:#@[\]-]{1,100}$/;
const TAG_LENGTH = 6;
const FURTHER_PATHS = / \+\d+$/;
const EXTENSION = /\.[a-z0-9]{1,8}$/i;

/**
 * Creates a label that hides content. All occurrences of a path in a report get the same tag. Tags are HMACs, so that paths
 * cannot be recovered by guessing.
 *
 * @param key @default 32 random bytes
 */
export function createRedactedLabel(key: Uint8Array = randomBytes(32)): ContentLabel {
  const tagOf = (text: string): string =>
    `#${createHmac('sha256', key).update(text).digest('hex').slice(0, TAG_LENGTH)}`;
  const ofPath = (path: string): string => {
    const further = FURTHER_PATHS.exec(path)?.[0] ?? '';
    const first = path.slice(0, path.length - further.length);
    return `${tagOf(first)}${EXTENSION.exec(first)?.[0] ?? ''}${further}`;
  };
  return {
    isRedacted: true,
    ofCall: ({ path }) => (path === null ? '' : ofPath(path)),
    ofPath,
    ofName: (name) => (PLAIN_NAME.test(name) ? name : tagOf(name)),
  };
}

/** Returns a hiding label, or the plain one for `--no-redact`. */
export function contentLabel(isRedacted: boolean): ContentLabel {
  return isRedacted ? createRedactedLabel() : PLAIN_LABEL;
}
