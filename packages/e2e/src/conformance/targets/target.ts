/** An API server to make statements about: how to reach it as its administrator, and which processes it is. */
export interface Target {
  readonly name: "embedded" | "kubernetes";
  /** A directory of its own; `kubeconfig` and kubectl's cache lie in it. */
  readonly directory: string;
  readonly kubeconfig: string;
  readonly connection: Connection;
  /** The processes that serve the API, for memory and for faults. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

/** What a plain HTTPS client needs. */
export interface Connection {
  readonly url: string;
  readonly certificateAuthority: string;
  readonly certificate?: string;
  readonly key?: string;
  readonly token?: string;
}

interface Kubeconfig {
  readonly clusters: readonly { cluster: { server: string; "certificate-authority-data": string } }[];
  readonly users: readonly {
    user: { token?: string; "client-certificate-data"?: string; "client-key-data"?: string };
  }[];
}

const decode = (base64: string): string => Buffer.from(base64, "base64").toString();

/** Reads a kubeconfig that is written as JSON with everything inside, as both targets write theirs. */
export function connectionOf(kubeconfig: string): Connection {
  // Our own API server or this folder wrote it.
  const { clusters, users } = JSON.parse(kubeconfig) as Kubeconfig;
  const cluster = clusters[0]?.cluster;
  const user = users[0]?.user;
  if (cluster === undefined || user === undefined) throw new Error("the kubeconfig names no cluster or no user");
  const certificate = user["client-certificate-data"];
  const key = user["client-key-data"];
  return {
    url: cluster.server,
    certificateAuthority: decode(cluster["certificate-authority-data"]),
    ...(certificate === undefined ? {} : { certificate: decode(certificate) }),
    ...(key === undefined ? {} : { key: decode(key) }),
    ...(user.token === undefined ? {} : { token: user.token }),
  };
}
