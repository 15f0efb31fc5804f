// What calls do, for the tools of `arbitraryWorkingHistory`: a table that knows only their parameters. Shares no code with
// src/shared/density/.

/** What a command does. */
interface NaiveCommand {
  readonly command: string;
  readonly kind: 'read' | 'write' | 'search' | 'command';
  readonly files: readonly string[];
  readonly lines?: readonly [first: number, last: number];
}

/** The commands of random histories. */
export const NAIVE_COMMANDS: readonly NaiveCommand[] = [
  { command: 'cat a.ts', kind: 'read', files: ['a.ts'] },
  { command: 'sed -n 2,10p src/b.ts', kind: 'read', files: ['src/b.ts'], lines: [2, 10] },
  { command: 'head -5 ./a.ts', kind: 'read', files: ['a.ts'] },
  { command: 'tail -5 a.ts', kind: 'read', files: ['a.ts'] },
  { command: 'cat a.ts src/b.ts', kind: 'read', files: ['a.ts', 'src/b.ts'] },
  { command: 'echo x > a.ts', kind: 'write', files: ['a.ts'] },
  { command: 'sed -i s/x/y/ src/b.ts', kind: 'write', files: ['src/b.ts'] },
  { command: 'rg pattern', kind: 'search', files: [] },
  { command: 'rg pattern c.ts', kind: 'search', files: ['c.ts'] },
  { command: 'npm test', kind: 'command', files: [] },
  { command: 'npx tsc a.ts', kind: 'command', files: ['a.ts'] },
];

const FILE_END = 2_000;

/** What a call does. */
export interface NaiveUse {
  readonly kind: NaiveCommand['kind'] | 'ask' | 'instruct' | 'unknown';
  readonly files: readonly string[];
  readonly lines?: readonly [first: number, last: number] | undefined;
  readonly command?: string;
}

/** What a call does, by the tools of random histories. */
export function naiveUse(name: string, parameters: unknown): NaiveUse {
  if (namesNoFile(name, parameters)) return unknownUse(parameters);
  switch (name) {
    case 'search_text':
      return { kind: 'search', files: [] };
    case 'ask_user':
      return { kind: 'ask', files: [] };
    case 'load_skill':
      return { kind: 'instruct', files: [] };
    case 'run_shell_command':
      return commandUse(parameters);
    case 'view_lines':
    case 'view_range':
    case 'read_file':
    case 'read_line_range':
    case 'ast_read_file':
    case 'read_many_files': {
      const files = filesOf(name, parameters);
      const lines = files.length === 1 ? linesOf(name, parameters) : undefined;
      return { kind: 'read', files, lines };
    }
    case 'write_file':
    case 'replace':
    case 'ast_edit':
    case 'insert_at_line':
    case 'delete_line_range':
      return { kind: 'write', files: filesOf(name, parameters) };
    default:
      return unknownUse(parameters);
  }
}

function firstOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) && typeof value[0] === 'object' ? [value[0]] : [];
}

/** Arguments for another tool, and the first element of each list in them. */
function passedOn(value: unknown): readonly unknown[] {
  let given = value;
  try {
    if (typeof value === 'string' && value.length <= 2_000) given = JSON.parse(value);
  } catch {
    return [];
  }
  if (typeof given !== 'object' || given === null || Array.isArray(given)) return [];
  return [given, ...Object.values(given).flatMap(firstOf)];
}

/** A tool that is given a file may show it. */
function unknownUse(parameters: unknown): NaiveUse {
  const isObject =
    typeof parameters === 'object' && parameters !== null && !Array.isArray(parameters);
  const given: readonly unknown[] = isObject
    ? [
        parameters,
        ...Object.values(parameters).flatMap((each) => [...firstOf(each), ...passedOn(each)]),
      ]
    : [];
  const keys = given.flatMap((one) => Object.keys(one ?? {}));
  const names = isObject ? keys.join(' ').toLowerCase() : 'file';
  const isRead = ['path', 'file', 'uri'].some((name) => names.includes(name));
  return { kind: isRead ? 'read' : 'unknown', files: [] };
}

const TOOLS_WITHOUT_FILES = ['search_text', 'run_shell_command', 'ask_user', 'load_skill'];

/** Whether a tool that touches files was called with parameters, but none of them is one of its files. */
function namesNoFile(name: string, parameters: unknown): boolean {
  if (TOOLS_WITHOUT_FILES.includes(name)) return false;
  if (typeof parameters !== 'object' || parameters === null || Array.isArray(parameters))
    return false;
  const given = parameters as Readonly<Record<string, unknown>>;
  const keys = filesKeysOf(name);
  return Object.keys(given).length > 0 && keys.every((key) => (given[key] ?? null) === null);
}

function filesKeysOf(name: string): readonly string[] {
  if (name.startsWith('view_')) return ['path'];
  return name === 'read_many_files' ? ['paths'] : ['file_path', 'absolute_path', 'path'];
}

function commandUse(parameters: unknown): NaiveUse {
  const { command, cmd } = (parameters ?? {}) as Readonly<Record<string, unknown>>;
  const given = typeof parameters === 'string' ? parameters : (command ?? cmd);
  const text = Array.isArray(given) ? given.join(' ') : given;
  const known = NAIVE_COMMANDS.find((one) => one.command === text);
  if (typeof text !== 'string') return { kind: 'command', files: [] };
  return known ?? { kind: text === 'ls' ? 'search' : 'command', files: [], command: text };
}

/** The files of a call; none if any of them is unclear. */
function filesOf(name: string, parameters: unknown): readonly string[] {
  if (typeof parameters !== 'object' || parameters === null) return [];
  const given = parameters as Readonly<Record<string, unknown>>;
  const path = name.startsWith('view_')
    ? given.path
    : (given.file_path ?? given.absolute_path ?? given.path);
  const list = name === 'read_many_files' ? given.paths : [path];
  if (!Array.isArray(list)) return [];
  const files = list.filter((one): one is string => typeof one === 'string' && one !== '');
  const isVague = name === 'read_many_files' && files.some((one) => /[*?]/.test(one));
  return isVague || files.length < list.length ? [] : files;
}

function linesOf(name: string, parameters: unknown): NaiveUse['lines'] {
  const { offset, limit, view_range } = (parameters ?? {}) as Readonly<Record<string, unknown>>;
  switch (name) {
    case 'read_file':
    case 'read_many_files':
      return [1, FILE_END];
    case 'view_lines': {
      const first = typeof offset === 'number' ? offset : 1;
      const count = typeof limit === 'number' ? limit : FILE_END;
      return count < 0 ? undefined : [first, first + count - 1];
    }
    case 'view_range': {
      if (view_range === undefined || view_range === null) return [1, FILE_END];
      const pair: unknown = view_range === '[2, 10]' ? [2, 10] : view_range;
      if (!Array.isArray(pair) || pair.length < 2) return undefined;
      const [first, last] = pair as [number, number];
      if (last === -1) return [first, Infinity];
      return last < first ? undefined : [first, last];
    }
    default:
      return undefined;
  }
}
