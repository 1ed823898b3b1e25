import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PodInterface } from "./pod-interface.ts";
import type { PreparedInterface } from "./prepared-interface.ts";

/**
 * What was done in a pod's network. Written before the first change, because afterwards the pod's interface does not show
 * any more how it was; `prepared` is added when all is done.
 */
export interface NetworkRecord {
  /** Of the pod's network namespace. */
  readonly networkId: string;
  readonly pod: PodInterface;
  readonly prepared?: PreparedInterface;
}

export interface NetworkRecords {
  get(podUid: string): NetworkRecord | undefined;
  put(podUid: string, record: NetworkRecord): void;
  remove(podUid: string): void;
}

const UID = /^[A-Za-z0-9-]{1,64}$/;

/** Small files in a folder of virt-handler's own, by UID of the pod. */
export function openNetworkRecords(directory: string): NetworkRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const pathOf = (podUid: string): string => join(directory, `${UID.test(podUid) ? podUid : "invalid"}.json`);
  return {
    get(podUid) {
      try {
        // Written by put, in a folder that only root can write to.
        return JSON.parse(readFileSync(pathOf(podUid), "utf8")) as NetworkRecord;
      } catch {
        // None, or one that was cut off: the pod's network is looked at anew.
        return undefined;
      }
    },
    put(podUid, record) {
      const path = pathOf(podUid);
      writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
    },
    remove: (podUid) => rmSync(pathOf(podUid), { force: true }),
  };
}
