// What providers refuse of a history, and what a history may not hold: names, nothing else.

export type { ProviderRequestOptions } from './shared/providers/provider-request.js';
export { PROVIDER_PROFILES } from './shared/providers/provider-violation.js';
export type {
  ProviderProfile,
  ProviderRule,
  ProviderViolation,
} from './shared/providers/provider-violation.js';
export { validate } from './shared/providers/validate.js';
export { findViolations } from './shared/validity.js';
export type { Violation, ViolationRule } from './shared/validity.js';
