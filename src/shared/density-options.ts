// Validates the options of density and names each one that is wrong. Checks kinds only; sets no defaults.

import { DEFAULT_DENSITY_CONFIG } from './density.js';
import type { DensityConfig, InclusionSyntax, PlaceholderForm } from './density.js';
import type { ShrinkerName, ShrinkLevel } from './shrink/shrinker.js';
import { isArray, isObject, kindOf } from './misuse.js';
import type { FileUse, ToolUse } from './tool-use.js';

/** Returns what is wrong with a value, or `undefined`. */
type Check = (value: unknown) => string | undefined;

const boolean = ofKind('true or false', (value) => typeof value === 'boolean');
const number = ofKind('a number', (value) => typeof value === 'number');
const text = ofKind('a string', (value) => typeof value === 'string');
const texts = ofKind('a list of strings', isListOfStrings);
const path = ofKind('a path', (value) => typeof value === 'string' && value !== '');
const record = ofKind('an object', isObject);

const LINE_KEYS = ofFields({ first: text, last: text, count: text, range: text });
const CONDITION = ofFields({ key: text, values: texts }, ['key', 'values']);
const EXTENT = oneOf<FileUse['extent']>({ whole: true, part: true });
const TOOL_USE = ofFields(
  {
    access: oneOf<ToolUse['access']>({
      ...{ read: true, write: true, search: true, run: true, ask: true, instruct: true },
    }),
    extent: EXTENT,
    pathKeys: texts,
    pathListKeys: texts,
    pathListItemKey: text,
    patchKeys: texts,
    commandKeys: texts,
    lineKeys: LINE_KEYS,
    when: CONDITION,
    has: texts,
    anyServer: boolean,
    words: texts,
  },
  ['access'],
);

const SHRINK_LEVELS = { lossless: true, default: true, strong: true } as const;
const SHRINK_SWITCHES: Readonly<Record<ShrinkerName, Check>> = {
  shownBefore: boolean,
  lineNumbers: boolean,
  terminalCodes: boolean,
  jsonTables: boolean,
  likeLines: boolean,
  failuresFirst: boolean,
  grouping: boolean,
  blobs: boolean,
};
const SHRINK_FIELDS = { ...SHRINK_SWITCHES, level: oneOf<ShrinkLevel>(SHRINK_LEVELS) };

/** A field with a default is a switch or a number, as its default is. */
const CHECKS_OF_DEFAULTS = Object.fromEntries(
  Object.entries(DEFAULT_DENSITY_CONFIG).map(([field, value]) => [
    field,
    typeof value === 'number' ? number : boolean,
  ]),
);

const CHECKS_OF_OTHERS: Readonly<Partial<Record<keyof DensityConfig, Check>>> = {
  workspaceRoot: path,
  toolCatalog: catalogProblem,
  inclusionSyntaxes: listOf(
    oneOf<InclusionSyntax>({ delimited: true, 'asked-for': true, 'referenced-files': true }),
  ),
  partialWritesSupersede: boolean,
  workingSet: record,
  shrink: shrinkProblem,
  placeholder: oneOf<PlaceholderForm>({ pointer: true, informative: true, recallable: true }),
};

const DENSITY_OPTIONS = ofFields({ ...CHECKS_OF_DEFAULTS, ...CHECKS_OF_OTHERS });

/**
 * Checks options of density. `undefined` counts as not given; unknown options are ignored.
 *
 * @param name their name in messages
 * @throws TypeError that lists each wrong option.
 */
export function assertDensityOptions(name: string, options: unknown): void {
  throwProblem(DENSITY_OPTIONS, name, options);
}

/** Checks a complete configuration of a pass. @throws TypeError that lists each wrong or missing option. */
export function assertDensityConfig(config: unknown): void {
  assertDensityOptions('density configuration', config);
  if (isObject(config) && config['workspaceRoot'] !== undefined) return;
  throw new TypeError(
    'Invalid density configuration: workspaceRoot: expected a path, got undefined.',
  );
}

/** @throws TypeError if the value is not a tool catalog. */
export function assertToolCatalog(name: string, catalog: unknown): void {
  throwProblem(catalogProblem, name, catalog);
}

/** @throws TypeError if the value does not describe a use of a tool. */
export function assertToolUse(use: unknown): void {
  throwProblem(toolUseProblem, 'use of a tool', use);
}

function throwProblem(check: Check, name: string, value: unknown): void {
  let problem: string | undefined;
  try {
    problem = check(value);
  } catch (cause) {
    throw new TypeError(`Invalid ${name}: it throws when it is read.`, { cause });
  }
  if (problem !== undefined) throw new TypeError(`Invalid ${name}: ${problem}.`);
}

/** Also checks the fields that depend on `access`. */
function toolUseProblem(use: unknown): string | undefined {
  const problem = TOOL_USE(use);
  if (problem !== undefined || !isObject(use)) return problem;
  const { access, extent, commandKeys } = use;
  if (access === 'run') return problemIn('commandKeys', texts(commandKeys));
  return access === 'read' || access === 'write' ? problemIn('extent', EXTENT(extent)) : undefined;
}

function catalogProblem(catalog: unknown): string | undefined {
  if (!isObject(catalog)) return `expected an object of tools, got ${kindOf(catalog)}`;
  const uses = listOf(toolUseProblem);
  return joinProblems(Object.keys(catalog).map((tool) => problemIn(tool, uses(catalog[tool]))));
}

/** The option is a word, or an object of shrinker names and `level`. */
function shrinkProblem(option: unknown): string | undefined {
  if (!isObject(option)) return oneOf({ off: true, ...SHRINK_LEVELS })(option);
  const isKnown = Object.keys(option).every((name) => Object.hasOwn(SHRINK_FIELDS, name));
  return isKnown
    ? ofFields(SHRINK_FIELDS)(option)
    : `expected switches of ${Object.keys(SHRINK_SWITCHES).join(', ')}, and a level`;
}

function ofKind(expected: string, isKind: (value: unknown) => boolean): Check {
  return (value) => (isKind(value) ? undefined : `expected ${expected}, got ${kindOf(value)}`);
}

/** Takes the words as keys, so that none of a type can be left out. */
function oneOf<Word extends string>(known: Readonly<Record<Word, true>>): Check {
  const words = Object.keys(known);
  const quoted = words.map((word) => `'${word}'`);
  return ofKind(`one of ${quoted.join(', ')}`, (value) => words.some((word) => word === value));
}

function listOf(check: Check): Check {
  return (values) => {
    if (!isArray(values)) return `expected a list, got ${kindOf(values)}`;
    // Stops at the first problem: a sparse list can have a length of billions.
    for (let at = 0; at < values.length; at += 1) {
      const problem = problemIn(String(at), check(values[at]));
      if (problem !== undefined) return problem;
    }
    return undefined;
  };
}

function ofFields(
  checks: Readonly<Record<string, Check>>,
  required: readonly string[] = [],
): Check {
  return (value) => {
    if (!isObject(value)) return `expected an object, got ${kindOf(value)}`;
    return joinProblems(
      Object.entries(checks).map(([name, check]) => {
        const field = value[name];
        const isGiven = field !== undefined || required.includes(name);
        return isGiven ? problemIn(name, check(field)) : undefined;
      }),
    );
  };
}

function problemIn(name: string, problem: string | undefined): string | undefined {
  return problem === undefined ? undefined : `${name}: ${problem}`;
}

function joinProblems(problems: readonly (string | undefined)[]): string | undefined {
  const found = problems.filter((problem) => problem !== undefined);
  return found.length === 0 ? undefined : found.join('; ');
}

function isListOfStrings(value: unknown): boolean {
  // Stops at the first: a sparse list can have a length of billions.
  return isArray(value) && value.findIndex((each) => typeof each !== 'string') === -1;
}
