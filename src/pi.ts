// The adapter for pi (`@earendil-works/pi-coding-agent`), an extension: exports only.

export { extension as default, piExtension } from './adapters/pi/extension.js';
export type { PiExtension } from './adapters/pi/extension.js';
