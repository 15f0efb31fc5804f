// The settings of a replay: for a compactor, and as code to paste, which omits settings that equal the defaults.

import { inspect } from 'node:util';
import type { EphemeralSettings } from '../../index.js';
import { SETTINGS_REGISTRY } from '../../settings.js';
import type { UsedPrice } from './money.js';
import type { ReplaySettings } from './replay-report.js';

/** Settings that affect the figures of a replay. */
type PlayedSettings = Pick<ReplaySettings, 'strategy'> &
  Partial<Omit<ReplaySettings, 'contextLimit'>>;

/** The settings for the code. */
interface SnippetSettings extends PlayedSettings {
  /** Context window in tokens; `null` if the model decides. */
  readonly contextLimit: number | null;
  /** @default the working directory */
  readonly workspaceRoot?: string | undefined;
}

/** Returns the settings for a compactor. */
export function ephemeralSettings(given: PlayedSettings): EphemeralSettings {
  return {
    'compression.strategy': given.strategy,
    'compression.threshold': given.threshold ?? undefined,
    'compression.preserveThreshold': given.preserveThreshold ?? undefined,
    'compression.topPreserveThreshold': given.topPreserveThreshold ?? undefined,
    'compression.fallbackToTruncation': given.summarizer?.fallbackToTruncation,
    'compression.density.recencyPruning': typeof given.recencyRetention === 'number',
    'compression.density.recencyRetention': given.recencyRetention ?? undefined,
  };
}

/**
 * Returns code that creates sessions like those that were played.
 *
 * @param price the price of requests; omitted from the code unless the user gave it
 */
export function settingsSnippet(given: SnippetSettings, price?: UsedPrice): string {
  const settings = Object.entries(ephemeralSettings(given)).filter(
    ([key, value]) => value !== undefined && value !== defaultOf(key),
  );
  const options = [
    ...(given.contextLimit === null ? [] : [`  contextLimit: ${given.contextLimit},`]),
    ...(given.workspaceRoot === undefined
      ? []
      : [`  workspaceRoot: ${JSON.stringify(given.workspaceRoot)},`]),
    ...(price?.origin === 'given' ? [`  prices: { '*': ${priceLiteral(price)} },`] : []),
    ...(settings.length === 0
      ? []
      : [
          '  settings: {',
          ...settings.map(([key, value]) => `    '${key}': ${literal(value)},`),
          '  },',
        ]),
    ...(given.summarizer
      ? [
          '  // summarizer: fromLanguageModel(yourModel, { contextLimit }), required by this strategy',
        ]
      : []),
  ];
  return [
    `import { createCompactor } from 'ctxfold';`,
    '',
    ...(options.length === 0
      ? ['const compactor = createCompactor();']
      : ['const compactor = createCompactor({', ...options, '});']),
    '// Adapters take the compactor.',
    'const session = await compactor.createSession();',
  ].join('\n');
}

function priceLiteral({ price: { name: _, ...price } }: UsedPrice): string {
  const known = Object.entries(price).filter(([, value]) => value !== undefined);
  return inspect(Object.fromEntries(known), { depth: null, breakLength: Infinity });
}

function defaultOf(key: string): unknown {
  return SETTINGS_REGISTRY.find((setting) => setting.key === key)?.default;
}

function literal(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value);
}
