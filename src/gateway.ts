// The gateway between agents and their providers: exports only.

export { startGateway } from './gateway/start-gateway.js';
export type { GatewayMode, GatewayOptions, GatewayPage } from './gateway/server/options.js';
export type { Gateway } from './gateway/server/gateway.js';
