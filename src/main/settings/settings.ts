// The settings of one session, which may change while it runs. session-config.ts derives the configuration from them.

import type { EphemeralSettings, SettingKey, SettingName } from './ephemeral-settings.js';
import { parseEphemeralSettings, unknownSettingMessage } from './parse-ephemeral-settings.js';
import { SETTINGS_BY_NAME } from './settings-registry.js';

/** The host's settings for a session, layered over those of its profile. */
export class Settings {
  #overrides: EphemeralSettings;
  readonly #profile: EphemeralSettings;
  /**
   * The values set for the session or by its profile, by key. Replaced by a new object on each change.
   *
   * @internal
   */
  current: EphemeralSettings;

  /** @throws as `parseEphemeralSettings` does. */
  constructor(overrides: EphemeralSettings = {}, profile: EphemeralSettings = {}) {
    this.#overrides = parseEphemeralSettings(overrides);
    this.#profile = parseEphemeralSettings(profile);
    this.current = this.#layers;
  }

  /**
   * Returns the value set for the session, else the profile's, else `undefined`: the default applies then.
   *
   * @throws TypeError for an unknown setting.
   */
  get<Name extends SettingName>(name: Name): EphemeralSettings[Name] {
    // An alias has the type of its key.
    return this.current[keyNamed(name)] as EphemeralSettings[Name];
  }

  /**
   * Sets a setting; `undefined` removes the override, so that the profile's value applies again. Takes effect with the next
   * preflight; one that is already running may still use the old value.
   *
   * @throws as `parseEphemeralSettings` does; nothing is changed then.
   */
  set<Name extends SettingName>(name: Name, value: EphemeralSettings[Name]): void {
    const key = keyNamed(name);
    const parsed = parseEphemeralSettings({ [name]: value });
    const { [key]: _, ...others } = this.#overrides;
    this.#overrides = { ...others, ...parsed };
    this.current = this.#layers;
  }

  /** Returns a copy of all values set for the session or by its profile, by key. */
  all(): EphemeralSettings {
    return { ...this.current };
  }

  get #layers(): EphemeralSettings {
    return Object.freeze({ ...this.#profile, ...this.#overrides });
  }
}

function keyNamed(name: unknown): SettingKey {
  const spec = SETTINGS_BY_NAME.get(name);
  if (spec === undefined) throw new TypeError(unknownSettingMessage(name));
  return spec.key;
}
