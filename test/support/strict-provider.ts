// The examples' scripted provider with validation: SDK requests are read and judged as the real service would.

import { onTestFinished } from 'vitest';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type {
  ScriptedProvider,
  ScriptedProviderOptions,
} from '../../examples/support/scripted-provider.js';
import type { ProviderRequestOptions } from '../../src/shared/providers/provider-request.js';
import { findBreaches } from './find-breaches.js';

export type StrictProviderOptions = Pick<ScriptedProviderOptions, 'callIds'> & {
  /** Overrides what the body says. */
  readonly request?: ProviderRequestOptions;
};

/**
 * Starts a provider that stops with the test. A request that breaks a rule gets a 400 in the provider's format with the text
 * of its first breach, and uses no step of the script.
 */
export async function startStrictProvider(
  script: ScriptedProviderOptions['script'],
  { request: options = {}, ...rest }: StrictProviderOptions = {},
): Promise<ScriptedProvider> {
  const provider = await startScriptedProvider({
    ...rest,
    script,
    check: (request) => findBreaches(request, options)[0]?.message,
  });
  onTestFinished(() => provider.close());
  return provider;
}
