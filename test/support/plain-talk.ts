// A short conversation in the plain format, in which a write supersedes a read.

import { answer, assistant, call, system, user } from './plain-message-format.js';
import type { PlainMessage } from './plain-message-format.js';

/** A file tool's call and result. */
export function use(
  id: string,
  name: 'read_file' | 'write_file',
  path: string,
): readonly PlainMessage[] {
  return [assistant(call(id, name, { file_path: path })), answer(id, name, `${name} ${path}`)];
}

export const start: readonly PlainMessage[] = [
  system('be brief'),
  user('go'),
  ...use('1', 'read_file', 'a.ts'),
];
export const write: readonly PlainMessage[] = use('2', 'write_file', 'a.ts');
/** The compacted form of `start` and `write`. */
export const compacted: readonly PlainMessage[] = [...start.slice(0, 2), ...write];
