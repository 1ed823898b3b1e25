import type { TestCluster } from "../cluster.ts";

interface Lives {
  readonly living: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
}

/** The UIDs of all guests and pods that a cluster ever had. */
export class Census {
  readonly #cluster: TestCluster;
  readonly #seen = new Set<string>();

  constructor(cluster: TestCluster) {
    this.#cluster = cluster;
  }

  /** Events tell also of those that came and went between two looks. */
  async take(): Promise<Lives> {
    const told = await this.#uids(
      "events",
      "{range .items[?(@.involvedObject.kind=='Pod')]}{.involvedObject.uid} {end}" +
        "{range .items[?(@.involvedObject.kind=='VirtualMachineInstance')]}{.involvedObject.uid} {end}",
    );
    const living = new Set(await this.#uids("pods,virtualmachineinstances", "{.items[*].metadata.uid}"));
    for (const uid of [...told, ...living]) this.#seen.add(uid);
    return { living, gone: new Set([...this.#seen].filter((uid) => !living.has(uid))) };
  }

  async #uids(resources: string, path: string): Promise<string[]> {
    const { code, stdout, stderr } = await this.#cluster.kubectl("get", resources, "-A", "-o", `jsonpath=${path}`);
    if (code !== 0) throw new Error(`list ${resources}: ${stderr}`);
    return stdout.split(/\s+/).filter((uid) => uid !== "");
  }
}
