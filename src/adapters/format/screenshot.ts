// Replaces the screenshots that a program returns to OpenAI's computer tool. Their place takes a picture and nothing else.

import { asRecord } from '../../shared/json.js';
import type { JsonRecord } from '../../shared/json.js';
import { payloadTokens } from '../../shared/tokens/content-text.js';
import type { Outcome } from './blocks.js';

/** What is read of a screenshot. */
export const SCREENSHOT: Outcome = {
  result: '[computer_screenshot]',
  mediaTokens: payloadTokens('image/*'),
};

/** A picture of 288 × 32 pixels that reads "OLD SCREENSHOT REMOVED", a few dozen tokens. */
export const REMOVED_SCREENSHOT: string =
  'data:image/png;base64,' +
  'iVBORw0KGgoAAAANSUhEUgAAASAAAAAgCAAAAACXn/roAAAA3klEQVR42u2YyxKDMAhF8/8/3U51Mgq9PKyjdnFYIRGIR8Ek44WkMkAAIAABCEAAAhCAALReL7Jq3joEzf2I16z+ubL6jGA9lN3HyWdQxdnsam4AOgPIOmu7uj/yjeLMKVe5fF79iqJc87GPzc3lANDtgDpx9mPXAfqOD6B/A9Rp6rFuC61utBGgOH4NSDdvAN0HKP+8u2UY+XVLLMv1cIkB6DCgTVeldw2gLJdaNFb3A+hXQHGz1FsNa+8v5/vN0uatf/P1VsP6nNqLAYjjDs6DAAQgAAEIQAACEBLJG/Mh2suA4078AAAAAElFTkSuQmCC';

/** Returns a screenshot with that picture, in whichever field it is: of the API (`image_url`), the AI SDK or the Agents SDK. */
export function withoutPicture(shown: JsonRecord): JsonRecord {
  const { image_url: url, file_id: _id, imageUrl, fileId, data, ...others } = shown;
  if (data !== undefined) return { ...others, data: REMOVED_SCREENSHOT };
  if (imageUrl !== undefined || fileId !== undefined)
    return { ...others, imageUrl: REMOVED_SCREENSHOT };
  const isObject = asRecord(url) !== undefined;
  return { ...others, image_url: isObject ? { url: REMOVED_SCREENSHOT } : REMOVED_SCREENSHOT };
}
