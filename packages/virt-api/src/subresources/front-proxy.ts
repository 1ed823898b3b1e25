import type { ConfigMap, UserInfo } from "@polyvirt/api/k8s";

/** How the API server proves that it forwards a request, and where it says for whom. */
export interface FrontProxyRules {
  /** PEM of the authorities that sign the API server's own client certificate. */
  readonly authorities: string;
  /** Common names that count; empty means any that these authorities signed. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraPrefixes: readonly string[];
}

/** Where every API server publishes these rules. */
export const frontProxyConfigMap = { name: "extension-apiserver-authentication", namespace: "kube-system" } as const;

/** Reads the published rules; without an authority nobody can be recognised. */
export function readFrontProxyRules({ data = {} }: Pick<ConfigMap, "data">): FrontProxyRules | undefined {
  const authorities = data["requestheader-client-ca-file"];
  if (authorities === undefined || authorities === "") return undefined;
  return {
    authorities,
    allowedNames: names(data["requestheader-allowed-names"], []),
    usernameHeaders: names(data["requestheader-username-headers"], ["X-Remote-User"]),
    groupHeaders: names(data["requestheader-group-headers"], ["X-Remote-Group"]),
    extraPrefixes: names(data["requestheader-extra-headers-prefix"], ["X-Remote-Extra-"]),
  };
}

function names(json: string | undefined, fallback: readonly string[]): readonly string[] {
  if (json === undefined || json === "") return fallback;
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list.filter((name) => typeof name === "string") : fallback;
  } catch {
    return fallback;
  }
}

interface ProvenRequest {
  /** Common name of the caller's certificate, when one of the trusted authorities signed it. */
  readonly commonName: string | undefined;
  /** Each header's values one by one: a comma inside a group's name must not make it two groups. */
  readonly headers: Readonly<Partial<Record<string, readonly string[]>>>;
}

/** For whom the API server forwards this request; `undefined` when the caller is not the API server. */
export function authenticate(
  { commonName, headers }: ProvenRequest,
  rules: FrontProxyRules | undefined,
): UserInfo | undefined {
  if (rules === undefined || commonName === undefined) return undefined;
  if (rules.allowedNames.length > 0 && !rules.allowedNames.includes(commonName)) return undefined;
  const values = (name: string): readonly string[] => headers[name.toLowerCase()] ?? [];
  const username = rules.usernameHeaders.flatMap(values)[0];
  if (username === undefined || username === "") return undefined;
  const extra: Record<string, string[]> = {};
  for (const header of Object.keys(headers)) {
    const prefix = rules.extraPrefixes.find((candidate) => header.startsWith(candidate.toLowerCase()));
    if (prefix !== undefined) extra[decodeURIComponent(header.slice(prefix.length))] = [...values(header)];
  }
  return { username, groups: rules.groupHeaders.flatMap(values), extra };
}
