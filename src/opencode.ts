// The adapter for OpenCode (`opencode-ai`), a plugin: exports only.

export { plugin as default } from './adapters/opencode/plugin.js';
export type { OpenCodePlugin } from './adapters/opencode/plugin-api.js';
