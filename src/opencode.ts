// The adapter for OpenCode (`opencode-ai`), a plugin: names, nothing else.

export { plugin as default } from './adapters/opencode/plugin.js';
export type { OpenCodePlugin } from './adapters/opencode/plugin-api.js';
