// Ids that try to place a file elsewhere or over someone else's. All distinct; none is a plain name.

const SEPARATED = [
  '../../escaped',
  '..\\..\\escaped',
  '/etc/passwd',
  'a/b',
  'a\\b',
  '\\\\host\\share\\x',
];
const RELATIVE = ['.', '..', '...', './x', '~', '~root', '%2e%2e%2fx', '$HOME', '-rf'];
const OF_WINDOWS = [
  'C:',
  'C:evil',
  'a:b',
  'x::$DATA',
  'CON',
  'con',
  'nul',
  'aux',
  'lpt1',
  'COM1',
  'con.txt',
];
const TRIMMED = [' ', 'trailing ', 'dot.', 'dots..', ' leading', '\t', 'line\nbreak', 'line\r'];
const ENDED = ['a\0b', '\0', 'x.removals.jsonl', 'x.removals.jsonl.lock', 'sha256.'];
/** The same name to a file system that folds case or normalizes, but different ids. */
const LOOKALIKE = [
  'A',
  'Session',
  'SESSION',
  '\u00e9',
  'e\u0301',
  '\u212b',
  '\u00c5',
  'A\u030a',
  '\ufb01',
  'ſ',
  'ß',
];
const BROKEN = ['\ud800', '\udc00', '\udfff\ud800', '\ufffd', '\u202egpj.exe', '\u200b'];
const LONG = [
  'x'.repeat(200),
  'x'.repeat(255),
  'x'.repeat(256),
  'é'.repeat(128),
  '😀'.repeat(64),
  'y'.repeat(10_000),
];
const OF_JSON = ['__proto__', 'toString', '","sessionId":"other', '{"v":1,"seq":0'];

/** Ids that are unsafe as file names somewhere. */
export const HOSTILE_IDS: readonly string[] = [
  ...SEPARATED,
  ...RELATIVE,
  ...OF_WINDOWS,
  ...TRIMMED,
  ...ENDED,
  ...LOOKALIKE,
  ...BROKEN,
  ...LONG,
  ...OF_JSON,
];
