// Which files a user's words ask for by `@path`. Reads the words that it is given, and no file.

import { resolve } from 'node:path';

/** A name in quotes, or all up to the next space; a space with a backslash before it belongs to the name. */
const MENTION = /(?<![\w@./-])@(?:"([^"\n]+)"|((?:\\.|[^\s\\])+))/g;
const ESCAPE = /\\(.)/g;
/** What a sentence puts behind a name. */
const PUNCTUATION = '.,;:!?)]}>\'"`*';

/** Returns the absolute paths of the files that words ask for; with each that may be one, for a name may end with a dot. */
export function filesAskedFor(words: string, workspaceRoot: string): ReadonlySet<string> {
  const files = new Set<string>();
  for (const [, quoted, bare = ''] of words.matchAll(MENTION)) {
    const names = quoted === undefined ? [bare, withoutPunctuation(bare)] : [quoted];
    for (const name of names) {
      files.add(resolve(workspaceRoot, name));
      files.add(resolve(workspaceRoot, name.replace(ESCAPE, '$1')));
    }
  }
  return files;
}

function withoutPunctuation(name: string): string {
  let end = name.length;
  while (end > 0 && PUNCTUATION.includes(name.charAt(end - 1))) end -= 1;
  return name.slice(0, end);
}
