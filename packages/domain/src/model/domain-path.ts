/** A path into the model as a JSON pointer: `/devices/disks/0/target/bus`. The domain itself is `/`. */
export function formatPath(path: readonly (string | number)[]): string {
  if (path.length === 0) return "/";
  return path.map((segment) => `/${String(segment).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}
