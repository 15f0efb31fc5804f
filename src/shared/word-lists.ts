// Lists of words, written as one text with spaces between them.

export function wordList(words: string): readonly string[] {
  return words.split(' ');
}

export function wordSet(words: string): ReadonlySet<string> {
  return new Set(wordList(words));
}
