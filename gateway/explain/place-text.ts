/**
 * Where a limit is set, for people, who look for the place in their file.
 * @param isSet whether the config has a setting, by its path
 */
export function placeText(path: string, isSet: (path: string) => boolean): string {
  return isSet(path) ? path : `default (${path})`;
}
