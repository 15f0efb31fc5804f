// Validates histories, by the providers' rules and by ctxfold's own: exports only.

export type { ProviderRequestOptions } from './shared/providers/provider-request.js';
export { PROVIDER_PROFILES } from './shared/providers/provider-violation.js';
export type {
  ProviderProfile,
  ProviderRule,
  ProviderViolation,
} from './shared/providers/provider-violation.js';
export { validate } from './shared/providers/validate.js';
export { findViolations } from './shared/validity.js';
export type { Violation, ViolationRule } from './shared/violation.js';
