/** The parts of a store key, see `keyOf`. */
export function splitKey(key: string): { bucket: string; namespace: string; name: string } {
  const [bucket = "", namespace = "", ...name] = key.split("/");
  return { bucket, namespace, name: name.join("/") };
}
