// The scripted provider of the examples, and one that takes nothing which breaks a rule: what comes over
// the wire from an SDK is read and judged as the service would.

import { onTestFinished } from 'vitest';

import { startScriptedProvider } from '../../examples/support/scripted-provider.js';
import type {
  ScriptedProvider,
  ScriptedProviderOptions,
} from '../../examples/support/scripted-provider.js';
import type { ProviderRequestOptions } from '../../src/shared/providers/provider-request.js';
import { findBreaches } from './find-breaches.js';

export type StrictProviderOptions = Pick<ScriptedProviderOptions, 'callIds'> & {
  /** What goes before what the body tells. */
  readonly request?: ProviderRequestOptions;
};

/**
 * Starts one that ends with the test. A request that breaks a rule is answered with 400, the provider's
 * envelope and its text for the first breach, and uses up no step of the script.
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
