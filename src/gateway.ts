// The gateway between agents and their providers: names, nothing else.

export { startGateway } from './gateway/start-gateway.js';
export type { GatewayMode, GatewayOptions, GatewayPage } from './gateway/server/options.js';
export type { Gateway } from './gateway/server/gateway.js';
