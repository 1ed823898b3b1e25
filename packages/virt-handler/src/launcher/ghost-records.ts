import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describeError, type Logger } from "@polyvirt/core";
import { errors } from "../errors.ts";

/** That a launcher was connected here: virt-handler looks after it even when its VMI has vanished meanwhile. */
export interface GhostRecord {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly podUid: string;
}

export interface GhostRecords {
  list(): GhostRecord[];
  get(uid: string): GhostRecord | undefined;
  put(record: GhostRecord): void;
  remove(uid: string): void;
}

const UID = /^[A-Za-z0-9-]{1,64}$/;

/** Keeps records as small files in a folder of virt-handler's own; written before the launcher is first talked to. */
export function openGhostRecords(directory: string, logger: Logger): GhostRecords {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const records = new Map<string, GhostRecord>();
  const pathOf = (uid: string) => join(directory, `${uid}.json`);
  for (const file of readdirSync(directory)) {
    try {
      if (!file.endsWith(".json")) {
        rmSync(join(directory, file));
        continue;
      }
      const record = checked(JSON.parse(readFileSync(join(directory, file), "utf8")));
      records.set(record.uid, record);
    } catch (error) {
      logger.warn("dropped a record of a launcher that cannot be read", { file, error: describeError(error) });
      rmSync(join(directory, file), { force: true });
    }
  }
  return {
    list: () => [...records.values()],
    get: (uid) => records.get(uid),
    put(record) {
      const known = records.get(record.uid);
      if (known !== undefined && known.podUid === record.podUid) return;
      const path = pathOf(checked(record).uid);
      // Renamed into place, so that a crash leaves the old record or the new one.
      writeFileSync(`${path}.new`, JSON.stringify(record), { mode: 0o600 });
      renameSync(`${path}.new`, path);
      records.set(record.uid, record);
    },
    remove(uid) {
      if (records.delete(uid)) rmSync(pathOf(uid), { force: true });
    },
  };
}

function checked(value: unknown): GhostRecord {
  const record = value as Partial<GhostRecord> | null;
  const { uid, name, namespace, podUid } = record ?? {};
  if (typeof uid !== "string" || typeof podUid !== "string" || !UID.test(uid) || !UID.test(podUid)) {
    throw errors.HandlerRecordUnreadable("read the record of a launcher: it has no UIDs");
  }
  if (typeof name !== "string" || typeof namespace !== "string") {
    throw errors.HandlerRecordUnreadable("read the record of a launcher: it has no name");
  }
  return { uid, name, namespace, podUid };
}
