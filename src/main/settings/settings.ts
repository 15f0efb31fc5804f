// The settings of one session, which may change while it runs. Defaults are none of its business:
// runtime-context.ts adds them.

import type { EphemeralSettings, SettingName } from './ephemeral-settings.js';
import { parseEphemeralSettings, unknownSettingMessage } from './parse-ephemeral-settings.js';
import { findSetting } from './settings-registry.js';
import type { SettingSpec } from './settings-registry.js';

/** What the host has set for a session, over what its profile says. */
export class Settings {
  #overrides: EphemeralSettings;
  readonly #profile: EphemeralSettings;

  /** @throws as `parseEphemeralSettings` does. */
  constructor(overrides: EphemeralSettings = {}, profile: EphemeralSettings = {}) {
    this.#overrides = parseEphemeralSettings(overrides);
    this.#profile = parseEphemeralSettings(profile);
  }

  /**
   * Returns what is set, else what the profile says, else `undefined`: then the default holds.
   *
   * @throws TypeError for an unknown setting.
   */
  get<Name extends SettingName>(name: Name): EphemeralSettings[Name] {
    const { key } = settingNamed(name);
    // An alias has the type of its key.
    return (this.#overrides[key] ?? this.#profile[key]) as EphemeralSettings[Name];
  }

  /**
   * Sets a setting from here on; `undefined` takes that back, so that the profile's value holds again.
   * The next preflight goes by it; one that is under way may still go by the value before.
   *
   * @throws as `parseEphemeralSettings` does; nothing is changed then.
   */
  set<Name extends SettingName>(name: Name, value: EphemeralSettings[Name]): void {
    const { key } = settingNamed(name);
    const parsed = parseEphemeralSettings({ [name]: value });
    const { [key]: _, ...others } = this.#overrides;
    this.#overrides = { ...others, ...parsed };
  }

  /** Returns all that is set or said by the profile, by key. A copy: what is done to it has no effect. */
  all(): EphemeralSettings {
    return { ...this.#profile, ...this.#overrides };
  }
}

function settingNamed(name: unknown): SettingSpec {
  const spec = findSetting(name);
  if (spec === undefined) throw new TypeError(unknownSettingMessage(name));
  return spec;
}
