// How a report names what calls and files are about. With redaction it shows nothing of the content: of a
// path a tag and the extension, of all else nothing.

import { createHmac, randomBytes } from 'node:crypto';
import type { CallSubject } from '../call-subject.js';

/** Names things of the session. */
export interface ContentLabel {
  readonly isRedacted: boolean;
  /** What a call is about; empty when nothing may be said. */
  readonly ofCall: (subject: CallSubject) => string;
  /** A file, or the first one with the number of further ones. */
  readonly ofPath: (path: string) => string;
}

/** Shows what is there. */
export const PLAIN_LABEL: ContentLabel = {
  isRedacted: false,
  ofCall: ({ path, parameter }) => path ?? parameter ?? '',
  ofPath: (path) => path,
};

const TAG_LENGTH = 6;
const FURTHER_PATHS = / \+\d+$/;
const EXTENSION = /\.[a-z0-9]{1,8}$/i;

/**
 * Makes a label that hides. A path has the same tag everywhere in one report. Tags are keyed, so that
 * nobody can try paths until one fits.
 *
 * @param key @default a new one
 */
export function createRedactedLabel(key: Uint8Array = randomBytes(32)): ContentLabel {
  const ofPath = (path: string): string => {
    const further = FURTHER_PATHS.exec(path)?.[0] ?? '';
    const first = path.slice(0, path.length - further.length);
    const tag = createHmac('sha256', key).update(first).digest('hex').slice(0, TAG_LENGTH);
    return `#${tag}${EXTENSION.exec(first)?.[0] ?? ''}${further}`;
  };
  return {
    isRedacted: true,
    ofCall: ({ path }) => (path === null ? '' : ofPath(path)),
    ofPath,
  };
}
