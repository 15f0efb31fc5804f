// The adapter for OpenClaw (`openclaw`), a context engine: exports only.

export { register as default } from './adapters/pi/openclaw-plugin.js';
export type { OpenClawPluginApi } from './adapters/pi/openclaw-api.js';
