// How a report names what calls and files are about. With redaction it shows nothing of the content: of a
// path a tag and the extension, names of tools and ids of calls as long as they are plain, of all else nothing.

import { createHmac, randomBytes } from 'node:crypto';
import type { CallSubject } from '../measure/call-subject.js';

/** Names things of the session. */
export interface ContentLabel {
  readonly isRedacted: boolean;
  /** What a call is about; empty when nothing may be said. */
  readonly ofCall: (subject: CallSubject) => string;
  /** A file, or the first one with the number of further ones. */
  readonly ofPath: (path: string) => string;
  /** A tool's name or a call's id: agents make them, but a recording may hold anything there. */
  readonly ofName: (name: string) => string;
}

/** Shows what is there. */
export const PLAIN_LABEL: ContentLabel = {
  isRedacted: false,
  ofCall: ({ path, parameter }) => path ?? parameter ?? '',
  ofPath: (path) => path,
  ofName: (name) => name,
};

/** An identifier as programs make them: no free text, no path, no assignment. */
const PLAIN_NAME = /^[\w.:#@[\]-]{1,100}$/;
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

/** The label for what may be seen: `--no-redact` shows what is there. */
export function contentLabel(isRedacted: boolean): ContentLabel {
  return isRedacted ? createRedactedLabel() : PLAIN_LABEL;
}
