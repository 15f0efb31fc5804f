// Lists of words, written as one text with spaces between them.

export function listOf(words: string): readonly string[] {
  return words.split(' ');
}

export function setOf(words: string): ReadonlySet<string> {
  return new Set(listOf(words));
}
