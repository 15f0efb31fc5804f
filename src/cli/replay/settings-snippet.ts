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
  const options = {
    contextLimit: given.contextLimit ?? undefined,
    workspaceRoot: given.workspaceRoot,
    prices: price?.origin === 'given' ? { '*': { ...price.price, name: undefined } } : undefined,
    settings: settings.length === 0 ? undefined : Object.fromEntries(settings),
  };
  // JSON leaves out what is undefined.
  const code = inspect(JSON.parse(JSON.stringify(options)), { depth: null, compact: false });
  return [
    `import { createCompactor } from 'ctxfold';`,
    '',
    ...(given.summarizer
      ? [
          '// This strategy requires `summarizer`, too: fromLanguageModel(yourModel, { contextLimit }).',
        ]
      : []),
    `const compactor = createCompactor(${code === '{}' ? '' : code});`,
    '// Adapters take the compactor.',
    'const session = await compactor.createSession();',
  ].join('\n');
}

function defaultOf(key: string): unknown {
  return SETTINGS_REGISTRY.find((setting) => setting.key === key)?.default;
}
