/**
 * Which language is read. `strict` is CEL as Kubernetes has it. `relaxed` also reads quantity and version literals,
 * unquoted map keys, `Object.spec.x` as a value, and takes a missing field for null; every strict expression keeps its
 * meaning in it.
 */
export type Dialect = "strict" | "relaxed";
