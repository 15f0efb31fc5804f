// The adapter for pi (`@earendil-works/pi-coding-agent`), an extension: names, nothing else.

export { extension as default, piExtension } from './adapters/pi/extension.js';
export type { PiExtension } from './adapters/pi/extension.js';
