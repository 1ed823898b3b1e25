/** Who we are towards the API server, at this moment. */
export interface Credentials {
  readonly token?: string;
  /** PEM. */
  readonly certificate?: string;
  /** PEM. */
  readonly key?: string;
}

export interface CredentialSource {
  get(): Promise<Credentials>;
  /** Called when the server refused the credentials: the next `get` must not answer from memory. */
  invalidate(): void;
}

/** Everything needed to talk to one API server. */
export interface KubeConnection {
  /** `https://host:port[/prefix]`, `http://…`, or `unix:///path/to/socket`. */
  readonly server: string;
  /** PEM bundle; without it the system's authorities count. */
  readonly certificateAuthority?: string;
  readonly insecureSkipTlsVerify?: boolean;
  readonly tlsServerName?: string;
  readonly credentials: CredentialSource;
  /** Namespace of the context or service account. */
  readonly namespace: string;
}

export function fixedCredentials(credentials: Credentials): CredentialSource {
  return { get: () => Promise.resolve(credentials), invalidate() {} };
}
