// The registry of settings, their validation, profile files, and the types of prices: exports only.

export type { OwnPrices } from './main/models/model-prices.js';
export type { CacheLifetime } from './main/models/price-table.js';
export type { SettingAlias } from './main/settings/ephemeral-settings.js';
export { parseEphemeralSettings } from './main/settings/parse-ephemeral-settings.js';
export { loadProfile, saveProfile } from './main/settings/profile.js';
export { SETTINGS_REGISTRY } from './main/settings/settings-registry.js';
export type {
  BooleanSettingSpec,
  EnumSettingSpec,
  NumberSettingSpec,
  SettingSpec,
  StringSettingSpec,
} from './main/settings/settings-registry.js';
