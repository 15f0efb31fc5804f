// What a shell command replaces in files, where the command text tells: literal patterns of `sed -i`, and literals in a script
// that replaces text and writes a file. Anything else would have to be run.

import { shownLines } from './replaced-texts.js';
import type { ReplacedText } from './replaced-texts.js';

/** Required length of a text to prove that the agent has seen it: `)` is everywhere. */
const TELLING_LENGTH = 8;

const SED = /(?<![\w-])sed(?:\s+-{1,2}[\w.-]+)*\s+(['"])/g;
const IN_PLACE = /\s-{1,2}(?:i|in-place|[Enrsuz]+i)/;
const EXTENDED = /\s-{1,2}(?:[insuz]*[Er]|regexp-extended)/;
/** The address before the `s` of a sed script: a line, a range, or nothing. */
const SUBSTITUTION = /^(?:\d+(?:,(?:\d+|\$))?)?s([/|#,@!])/;
/** A file name that ends the command, after a shell string. */
const OPERAND = /^\s+([^\s;&|<>*?$`]+)\s*(?:$|[\n;&|])/;

const WRITES = /\.write(?:lines|_text)?\(|writeFileSync\(/;
/** A Python or JavaScript string without its prefix. */
const LITERAL = /'''([^]*?)'''|"""([^]*?)"""|'((?:[^'\\\n]|\\.)*)'|"((?:[^"\\\n]|\\.)*)"/.source;
const REPLACED = new RegExp(`\\.replace\\(\\s*(?:([A-Za-z_]\\w*)|${LITERAL})\\s*,`, 'g');
const SCRIPTED_FILE =
  /(?:open|Path|readFileSync)\(\s*(['"])([^'"\n]+)\1|\b(?:file|path|file_?path) = (['"])([^'"\n]+)\3/;

/** Returns what a command replaces, one text per pattern or literal; nothing where that is unclear. */
export function shellEdits(command: string): readonly ReplacedText[] {
  return [...sedEdits(command), ...scriptedEdits(command)].filter(
    ({ lines }) => lines.join('').length >= TELLING_LENGTH,
  );
}

function sedEdits(command: string): readonly ReplacedText[] {
  return Array.from(command.matchAll(SED)).flatMap((match): readonly ReplacedText[] => {
    const [sed, quote = ''] = match;
    if (!IN_PLACE.test(sed)) return [];
    const start = match.index + sed.length;
    const end = command.indexOf(quote, start);
    const script = command.slice(start, end);
    // The shell expands these between double quotes.
    if (end === -1 || (quote === '"' && /[$`\\]/.test(script))) return [];
    const file = OPERAND.exec(command.slice(end + 1))?.[1];
    const text = literalOf(script, EXTENDED.test(sed));
    return file === undefined || text === undefined ? [] : [{ file, lines: shownLines(text) }];
  });
}

/**
 * The text that a sed script replaces, or undefined when its pattern matches more than one text. A dot counts as a literal dot:
 * few authors mean anything else, and edits of text that was never shown do not count anyway.
 */
function literalOf(script: string, isExtended: boolean): string | undefined {
  const opening = SUBSTITUTION.exec(script);
  if (opening === null) return undefined;
  const delimiter = opening[1] ?? '';
  let text = '';
  for (let at = opening[0].length; at < script.length; at += 1) {
    const character = script.charAt(at);
    if (character === delimiter) return text;
    if (character === '\\') {
      at += 1;
      const escaped = script.charAt(at);
      const isSpecial = isExtended ? /[\w<>'`]/.test(escaped) : /[\w<>'`(){}+?|]/.test(escaped);
      if (isSpecial) return undefined;
      text += escaped;
    } else if (character === '^' && text === '') {
      continue;
    } else if (character === '$' && script.charAt(at + 1) === delimiter) {
      continue;
    } else if ((isExtended ? /[*[\n^$(){}+?|]/ : /[*[\n^$]/).test(character)) {
      return undefined;
    } else {
      text += character;
    }
  }
  return undefined;
}

function scriptedEdits(command: string): readonly ReplacedText[] {
  if (!WRITES.test(command)) return [];
  const [, , opened, , named] = SCRIPTED_FILE.exec(command) ?? [];
  const file = named ?? opened ?? '';
  return Array.from(command.matchAll(REPLACED)).flatMap(([, name, ...literals]) => {
    const text = name === undefined ? textOf(literals) : assignedText(command, name);
    return text === undefined ? [] : [{ file, lines: shownLines(text) }];
  });
}

/** The string that a script assigns to a name, or undefined if it assigns it more than once or differently. */
function assignedText(script: string, name: string): string | undefined {
  const [only, ...others] = script.matchAll(
    new RegExp(`\\b${name} = (?:(?:${LITERAL})[ ]*$)?`, 'gm'),
  );
  return only === undefined || others.length > 0 ? undefined : textOf(only.slice(1));
}

/** The value of the literal that matched; Python and JavaScript agree on these escapes. */
function textOf(literals: readonly (string | undefined)[]): string | undefined {
  const literal = literals.find((each) => each !== undefined);
  return literal?.replace(/\\(.)/g, (_, character: string) => {
    if (character === 'n') return '\n';
    return character === 't' ? '\t' : character;
  });
}
