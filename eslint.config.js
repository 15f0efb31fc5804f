// Lint: typescript-eslint's strictest rules, import directions between folders, and what no file may contain (tags, `any`,
// suppressions). No file can disable a rule.

import js from '@eslint/js';
import { defineConfig, globalIgnores } from 'eslint/config';
import tseslint from 'typescript-eslint';
import { noCycle } from './scripts/no-cycle.js';
import { packageEntries } from './scripts/package-entries.js';

const NO_PACKAGES = '^(?!\\.)';
const NO_WORKER = { regex: '(^|/)worker/', message: 'Reach the worker by new URL(…) alone.' };
const NO_ROOT = {
  regex: `^(\\.\\./)+(${packageEntries().join('|')})\\.js$`,
  message: 'Only the CLI sees the public API.',
};
const NO_SELF = { regex: '^ctxfold($|/)', message: 'Only tests and benchmarks are consumers.' };

/** Restricts the imports of some files. A later call for the same file replaces an earlier one. */
function imports(files, ...patterns) {
  return { files, rules: { 'no-restricted-imports': ['error', { patterns }] } };
}

/** Forbids relative imports that go up `levels` folders or more, except those that match `except`. */
function climbs(levels, message, except = '') {
  const steps = '\\.\\./'.repeat(levels);
  return { regex: except === '' ? `^${steps}` : `^${steps}(?!${except})`, message };
}

const SHARED_ONLY = 'shared imports nothing but shared, node:path, node:util and node:zlib.';
const NO_PACKAGES_IN_SHARED = {
  regex: `${NO_PACKAGES}(?!node:(path|util|zlib)$)`,
  message: SHARED_ONLY,
};

const WORKER_ONLY = 'worker imports shared and node:worker_threads.';
const ALLOWED_IN_WORKER = 'node:worker_threads$';
const NO_PACKAGES_IN_WORKER = {
  regex: `${NO_PACKAGES}(?!${ALLOWED_IN_WORKER})`,
  message: WORKER_ONLY,
};

/** The main entry must load without the optional peer dependency. */
const NO_TELEMETRY_API = {
  regex: '^@opentelemetry/',
  message: 'Only src/otel.ts imports OpenTelemetry; the rest publishes on channels.',
};

const ADAPTERS_ONLY = {
  regex: '(^|/)adapters/',
  message: 'Adapters stand on the rest; nothing else knows them.',
};
const FORMATS_APART =
  'A format knows the port and the engine in src/adapters, and no other format.';

/** Adapters must load without their SDK, or with another version of it. */
const NO_SDK_AT_RUN_TIME = {
  regex: `${NO_PACKAGES}(?!node:)`,
  message: 'SDKs are optional peers: import their types only.',
  allowTypeImports: true,
};

const GATEWAY_ONLY = {
  regex: '(^|/)cli/',
  message: 'The command line runs the gateway, and gives it its page.',
};

const CLI_ONLY =
  'The CLI imports its own folder, packages, the entries of this one, and lists of names.';
const STRATEGIES_ONLY = {
  regex: '(^|/)(history-service|compactor)(/|\\.js$)|(^|/)offload/',
  message: 'Strategies receive what they need: neither history nor pool nor compactor.',
};

const NOWHERE = [
  { selector: 'ExportAllDeclaration', message: 'Export by name.' },
  { selector: 'Literal[value=/REQ-[A-Z]/]', message: 'Tags stand in docs/conformance.md.' },
  { selector: 'TemplateElement[value.raw=/REQ-[A-Z]/]', message: 'Tags stand in the docs.' },
  // The rules on import directions see static imports only.
  { selector: 'ImportExpression[source.value=/^\\.\\./]', message: 'Import it statically.' },
];

const CODE = ['src/**/*.ts', 'test/**/*.ts', 'bench/**/*.ts', '*.config.ts'];

const TESTS = CODE.filter((files) => /^(test|bench)/.test(files));

/** `LINT=quick` skips the tests, which take nearly half of the time. */
const IS_QUICK = process.env['LINT'] === 'quick';

/** Files linted without types, in a third of the time: none with `LINT=whole`, all with `LINT=quick`, by default the tests. */
const UNTYPED = { whole: [], quick: CODE }[process.env['LINT']] ?? TESTS;

const NODE_GLOBALS = Object.fromEntries(
  [
    'AbortController',
    'Buffer',
    'MessageChannel',
    'URL',
    'clearInterval',
    'clearTimeout',
    'console',
    'fetch',
    'performance',
    'process',
    'queueMicrotask',
    'setImmediate',
    'setInterval',
    'setTimeout',
    'structuredClone',
  ].map((name) => [name, 'readonly']),
);

export default defineConfig(
  globalIgnores([
    'dist',
    'coverage',
    '.bench',
    '.tmp',
    'test/fixtures',
    'examples/sessions',
    'src/shared/tokens/o200k-classes.ts',
    'src/shared/tokens/o200k-data.ts',
    'src/main/offload/worker-code.ts',
    ...(IS_QUICK ? TESTS : []),
  ]),
  { linterOptions: { noInlineConfig: true, reportUnusedDisableDirectives: 'error' } },
  js.configs.recommended,
  {
    files: CODE,
    extends: [tseslint.configs.strictTypeChecked],
    languageOptions: {
      parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname },
    },
    rules: {
      '@typescript-eslint/ban-ts-comment': [
        'error',
        { 'ts-ignore': true, 'ts-nocheck': true, 'ts-check': false, 'ts-expect-error': true },
      ],
      '@typescript-eslint/consistent-type-exports': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_$', ignoreRestSiblings: true },
      ],
      // `async` without `await` turns a thrown error into a rejection.
      '@typescript-eslint/require-await': 'off',
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true }],
      '@typescript-eslint/switch-exhaustiveness-check': [
        'error',
        { considerDefaultExhaustiveForUnions: true },
      ],
      eqeqeq: 'error',
      'max-lines': ['error', { max: 400 }],
      'no-console': 'error',
      // Tool output contains control characters, and compaction strips them.
      'no-control-regex': 'off',
      'no-restricted-syntax': ['error', ...NOWHERE],
      'no-warning-comments': [
        'error',
        {
          terms: ['todo', 'fixme', 'hack', 'xxx', '@plan', '@requirement', '@pseudocode', 'req-'],
          location: 'anywhere',
        },
      ],
    },
  },
  {
    files: ['src/**/*.ts'],
    plugins: { ctxfold: { rules: { 'no-cycle': noCycle } } },
    rules: { 'ctxfold/no-cycle': ['error', 'src'] },
  },
  {
    files: ['examples/**/*.d.ts'],
    extends: [tseslint.configs.base],
    rules: { 'no-unused-vars': 'off' },
  },
  imports(['src/shared/*.ts'], NO_PACKAGES_IN_SHARED, climbs(1, SHARED_ONLY)),
  imports(['src/shared/*/*.ts'], NO_PACKAGES_IN_SHARED, climbs(2, SHARED_ONLY)),
  {
    files: ['src/shared/**/*.ts'],
    rules: {
      'no-restricted-globals': [
        'error',
        { globals: ['process', 'console', 'Date'], checkGlobalObject: true },
      ],
      'no-restricted-properties': ['error', { object: 'Math', property: 'random' }],
      'no-restricted-syntax': [
        'error',
        ...NOWHERE,
        // The generated token module.
        {
          selector: "ImportExpression[source.value!='./o200k-data.js']",
          message: SHARED_ONLY,
        },
      ],
    },
  },

  imports(['src/worker/*.ts'], NO_PACKAGES_IN_WORKER, climbs(1, WORKER_ONLY, 'shared/')),
  imports(['src/worker/*/*.ts'], NO_PACKAGES_IN_WORKER, climbs(2, WORKER_ONLY, 'shared/'), {
    regex: '^node:',
    message: 'The entry alone touches threads.',
  }),

  imports(['src/main/**/*.ts'], NO_WORKER, NO_ROOT, NO_SELF, NO_TELEMETRY_API, ADAPTERS_ONLY),
  imports(
    ['src/main/strategies/**/*.ts'],
    NO_WORKER,
    NO_ROOT,
    NO_SELF,
    NO_TELEMETRY_API,
    ADAPTERS_ONLY,
    STRATEGIES_ONLY,
  ),
  imports(['src/cli/*.ts'], NO_SELF, climbs(1, CLI_ONLY, '[a-z-]+\\.js$')),
  imports(
    ['src/cli/*/*.ts'],
    NO_SELF,
    climbs(
      2,
      CLI_ONLY,
      '([a-z-]+|main/(formats/transcript|offload/offload|strategies/strategy))\\.js$',
    ),
  ),
  { files: ['src/cli/**/*.ts'], rules: { 'no-console': 'off' } },
  imports(['src/cli/report/client/*.ts'], {
    regex: '^(?!\\./|\\.\\./chart-data\\.js$|(\\.\\./){2}terminal/text-layout\\.js$)',
    message:
      'The script of the page imports its own folder, formats of figures, and types of its data.',
  }),
  imports(['src/cli/gateway/client/*.ts'], {
    regex:
      '^(?!\\./|(\\.\\./){3}gateway/server/ledger\\.js$|(\\.\\./){2}terminal/text-layout\\.js$)',
    message:
      'The script of the page imports its own folder, formats of figures, and types of its data.',
  }),

  imports(['src/gateway/**/*.ts'], NO_WORKER, NO_ROOT, NO_SELF, NO_TELEMETRY_API, GATEWAY_ONLY),

  imports(['src/adapters/*/*.ts'], NO_WORKER, NO_ROOT, NO_SELF, NO_TELEMETRY_API, {
    regex: '^\\.\\./(?!(?:format|request|conversation)/)[a-z-]+/',
    message: FORMATS_APART,
  }),
  {
    files: ['src/adapters/**/*.ts', 'src/*.ts'],
    ignores: ['src/otel.ts'],
    rules: {
      '@typescript-eslint/no-restricted-imports': ['error', { patterns: [NO_SDK_AT_RUN_TIME] }],
    },
  },

  {
    files: ['src/*.ts'],
    ignores: ['src/otel.ts'],
    rules: {
      'no-restricted-syntax': [
        'error',
        ...NOWHERE,
        { selector: 'Program > :not(ExportNamedDeclaration)', message: 'Exports only.' },
      ],
    },
  },

  imports(['test/integration/**/*.ts'], {
    regex: '(^|/)src/',
    message: 'Integration tests run the built package; import it by its own name.',
  }),
  {
    files: ['test/**/*.ts', 'bench/**/*.ts'],
    rules: {
      '@typescript-eslint/ban-ts-comment': [
        'error',
        { 'ts-expect-error': 'allow-with-description' },
      ],
      '@typescript-eslint/no-confusing-void-expression': 'off',
      '@typescript-eslint/no-empty-function': 'off',
      // Hosts copy instances of SDK classes, and the tests do as they do.
      '@typescript-eslint/no-misused-spread': 'off',
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-unsafe-class-instance-assignment': 'off',
      // Vitest types its matchers (`expect.any` etc.) as `any`.
      '@typescript-eslint/no-unsafe-assignment': 'off',
      '@typescript-eslint/only-throw-error': 'off',
      '@typescript-eslint/unbound-method': 'off',
      'max-lines': ['error', { max: 600 }],
      'no-restricted-properties': [
        'error',
        ...['waitFor', 'waitUntil'].map((property) => ({
          ...{ object: 'vi', property },
          message:
            'It gives up after a second; expect.poll has the time that vitest.config.ts gives it.',
        })),
      ],
    },
  },
  { files: ['bench/**/*.ts'], rules: { 'no-console': 'off' } },
  ...UNTYPED.map((files) => ({ files: [files], extends: [tseslint.configs.disableTypeChecked] })),

  {
    files: ['**/{utils,helpers,common,types}.ts'],
    rules: {
      'no-restricted-syntax': ['error', { selector: 'Program', message: 'Name what it holds.' }],
    },
  },
  { files: ['**/*.{js,mjs}'], languageOptions: { globals: NODE_GLOBALS } },
);
