const reserved: ReadonlySet<string> = new Set(
  "true false null in as break const continue else for function if import let loop package namespace return var void while".split(
    " ",
  ),
);

const escapes: Readonly<Record<string, string>> = {
  __: "__underscores__",
  ".": "__dot__",
  "-": "__dash__",
  "/": "__slash__",
};

/** The name that a property has in expressions: `x-y` is `x__dash__y`. Undefined when it cannot be written at all. */
export function escapeName(name: string): string | undefined {
  if (name === "" || /^\d/.test(name) || /[^a-zA-Z0-9_./-]/.test(name)) return undefined;
  if (reserved.has(name)) return `__${name}__`;
  return name.replace(/__|[./-]/g, (found) => escapes[found] ?? found);
}
