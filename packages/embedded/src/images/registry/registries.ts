import * as fs from "node:fs";
import { imageErrors } from "../errors.ts";

/** How one registry is to be reached. */
interface RegistrySettings {
  /** PEM file with the authority that signed the registry's certificate. */
  readonly ca?: string;
  /** Take any certificate, and plain HTTP where there is no TLS. */
  readonly insecure?: boolean;
  /** Hosts to ask first, each optionally with a path before the repository. */
  readonly mirrors?: readonly string[];
  readonly username?: string;
  readonly password?: string;
}

/** Where a registry, or a mirror of it, answers. */
export interface RegistryEndpoint {
  readonly host: string;
  /** Before every repository, such as `proxy/`. */
  readonly prefix: string;
  readonly ca: string | undefined;
  readonly insecure: boolean;
  readonly credentials: RegistryCredentials | undefined;
}

export interface RegistryCredentials {
  readonly username: string;
  readonly password: string;
}

export interface Registries {
  /** The endpoints of a registry in the order in which they are tried: its mirrors, then itself. */
  endpoints(registry: string): RegistryEndpoint[];
}

/** Docker Hub answers under another name than its references have. */
const hosts: Readonly<Record<string, string>> = { "docker.io": "registry-1.docker.io" };

/** Reads a file like `{"registries": {"example.org:5000": {"ca": "…", "mirrors": ["…"]}}}`; it may be missing. */
export function openRegistries(file: string): Registries {
  return {
    endpoints(registry) {
      const settings = readSettings(file);
      const endpointOf = (name: string): RegistryEndpoint => {
        const [host = "", ...path] = name.split("/");
        const own = settings.get(host) ?? {};
        return {
          host: hosts[host] ?? host,
          prefix: path.length === 0 ? "" : `${path.join("/")}/`,
          ca: own.ca === undefined ? undefined : readAuthority(own.ca, host),
          insecure: own.insecure === true,
          credentials:
            own.username === undefined ? undefined : { username: own.username, password: own.password ?? "" },
        };
      };
      return [...(settings.get(registry)?.mirrors ?? []), registry].map(endpointOf);
    },
  };
}

function readSettings(file: string): Map<string, RegistrySettings> {
  if (!fs.existsSync(file)) return new Map();
  try {
    // The administrator's own file; a value of a wrong type fails where it is used.
    const { registries } = JSON.parse(fs.readFileSync(file, "utf8")) as {
      registries?: Record<string, RegistrySettings>;
    };
    return new Map(Object.entries(registries ?? {}));
  } catch (cause) {
    throw imageErrors.ImageRegistryFailed(`read the registries' settings ${file}: correct the file`, { cause });
  }
}

function readAuthority(path: string, host: string): string {
  try {
    return fs.readFileSync(path, "utf8");
  } catch (cause) {
    throw imageErrors.ImageRegistryFailed(`read the certificate authority of ${host}`, { cause });
  }
}
