/** The type column of a field in `schema/*.yaml`, for example `list of Disk keyed by name` or `Time or null`. */
export type TypeExpression =
  | { readonly kind: "named"; readonly name: string; readonly nullable: boolean }
  | { readonly kind: "map"; readonly values: TypeExpression }
  | { readonly kind: "list"; readonly items: TypeExpression; readonly listType: "atomic" }
  | { readonly kind: "list"; readonly items: TypeExpression; readonly listType: "set" }
  | {
      readonly kind: "list";
      readonly items: TypeExpression;
      readonly listType: "map";
      readonly keys: readonly string[];
    };

export function parseTypeExpression(text: string): TypeExpression {
  const source = text.trim();
  const keyed = /^list of (.+) keyed by ([\w, ]+)$/.exec(source);
  if (keyed?.[1] !== undefined && keyed[2] !== undefined) {
    const keys = keyed[2].split(",").map((key) => key.trim());
    return { kind: "list", items: parseTypeExpression(keyed[1]), listType: "map", keys };
  }
  const container = /^(list|set|map) of (.+)$/.exec(source);
  if (container?.[2] !== undefined) {
    const inner = parseTypeExpression(container[2]);
    if (container[1] === "map") return { kind: "map", values: inner };
    return { kind: "list", items: inner, listType: container[1] === "set" ? "set" : "atomic" };
  }
  const named = /^(\w+)( or null)?$/.exec(source);
  if (named?.[1] === undefined) throw new SyntaxError(`cannot read the type "${source}"`);
  return { kind: "named", name: named[1], nullable: named[2] !== undefined };
}

/** For the arm of a switch that no expression reaches. */
export function unreachable(type: never): Error {
  return new TypeError(`not a type expression: ${JSON.stringify(type)}`);
}
