/** What a registry wants to know before it answers. */
export type Challenge =
  | { readonly scheme: "basic" }
  | { readonly scheme: "bearer"; readonly realm: string; readonly parameters: Readonly<Record<string, string>> };

/** Reads the WWW-Authenticate header; undefined for a scheme that we do not speak. */
export function parseChallenge(header: string | undefined): Challenge | undefined {
  const scheme = /^\s*([A-Za-z]+)/.exec(header ?? "")?.[1]?.toLowerCase();
  if (scheme === "basic") return { scheme };
  if (scheme !== "bearer" || header === undefined) return undefined;
  const parameters = Object.fromEntries(
    [...header.matchAll(/([a-z_]+)="([^"]*)"/gi)].map(([, name = "", value = ""]) => [name.toLowerCase(), value]),
  );
  const { realm, error: _, ...rest } = parameters;
  return realm === undefined ? undefined : { scheme, realm, parameters: rest };
}
