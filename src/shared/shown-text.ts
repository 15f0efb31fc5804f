// What a message, a report or a warning may repeat of a text that was given: names and short words as they are,
// of all else its length. A text may be what somebody said, or a key.

/** A word, or a number somebody has put in quotes. Keys and tokens hold digits among letters, or are longer. */
const WORD = /^(?:[A-Za-z_][A-Za-z_.-]{0,31}|-?[\d.]{1,12})$/;

/** An identifier as programs make them. No spaces, no paths, no assignments. */
const NAME = /^[\w.:#@[\]-]{1,100}$/;

/** Whether a text is the name of a tool, a call or a type as programs make them, and no free text. */
export function isPlainName(text: string): boolean {
  return NAME.test(text);
}

/** Whether a text is empty, one short word or a number: too little to be what somebody said, or a key. */
export function isShortWord(text: string): boolean {
  return text === '' || WORD.test(text);
}

/** A text in a message: `"word"`, or how long it is. */
export function shownText(text: string): string {
  return isShortWord(text) ? `"${text}"` : `a string of ${text.length} characters`;
}
