import { fieldError, type FieldError } from "../http/status-error.ts";
import { isJsonObject, textOf, valueAt, type JsonObject } from "../json.ts";
import { ageColumn, computed, nameColumn, textColumn, wide } from "./columns.ts";
import type { ApiObject, BuiltinKind } from "./kind.ts";
import { fill } from "./pod-defaults.ts";

const v1 = { group: "", version: "v1" };
const schema = (kind: string): string => `io.k8s.api.core.v1.${kind}`;

const terminating = (object: ApiObject, otherwise: string): string =>
  object.metadata.deletionTimestamp === undefined ? otherwise : "Terminating";

const accessModes: Readonly<Record<string, string>> = {
  ReadWriteOnce: "RWO",
  ReadOnlyMany: "ROX",
  ReadWriteMany: "RWX",
  ReadWriteOncePod: "RWOP",
};

const accessModesText = (modes: unknown): string =>
  (Array.isArray(modes) ? modes : []).map((mode) => accessModes[String(mode)] ?? String(mode)).join(",");

const persistentVolumeClaim: BuiltinKind = {
  ...v1,
  kind: "PersistentVolumeClaim",
  description: "A request for storage that outlives pods.",
  plural: "persistentvolumeclaims",
  namespaced: true,
  schema: schema("PersistentVolumeClaim"),
  shortNames: ["pvc"],
  subresources: ["status"],
  columns: [
    nameColumn,
    computed("Status", (object) => terminating(object, textOf(valueAt(object, "status", "phase")))),
    computed("Volume", (object) => valueAt(object, "spec", "volumeName") ?? ""),
    computed("Capacity", (object) => valueAt(object, "status", "capacity", "storage") ?? ""),
    computed("Access Modes", (object) => accessModesText(valueAt(object, "status", "accessModes"))),
    computed("StorageClass", (object) => valueAt(object, "spec", "storageClassName") ?? ""),
    computed("VolumeAttributesClass", (object) => valueAt(object, "spec", "volumeAttributesClassName") ?? "<unset>"),
    ageColumn,
    wide(textColumn("VolumeMode", "spec", "volumeMode")),
  ],
  strategy: {
    applyDefaults(object) {
      if (isJsonObject(object["spec"])) fill(object["spec"], { volumeMode: "Filesystem" });
    },
    prepareCreate(object) {
      object["status"] = { phase: "Pending" };
    },
    validate: (object) => validateClaim(object["spec"]),
  },
};

function validateClaim(spec: unknown): FieldError[] {
  const found: FieldError[] = [];
  const modes = valueAt(spec, "accessModes");
  if (!Array.isArray(modes) || modes.length === 0) {
    found.push(fieldError.required("spec.accessModes", "at least 1 access mode is required"));
  } else {
    const unknown = modes.filter((mode) => !Object.hasOwn(accessModes, String(mode)));
    const known = Object.keys(accessModes).toSorted();
    for (const mode of unknown) found.push(fieldError.notSupported("spec.accessModes", mode, known));
  }
  if (valueAt(spec, "resources", "requests", "storage") === undefined) {
    found.push(fieldError.required("spec.resources[storage]"));
  }
  return found;
}

const persistentVolume: BuiltinKind = {
  ...v1,
  kind: "PersistentVolume",
  description: "A piece of storage that a claim can be bound to.",
  plural: "persistentvolumes",
  namespaced: false,
  schema: schema("PersistentVolume"),
  shortNames: ["pv"],
  subresources: ["status"],
  columns: [
    nameColumn,
    computed("Capacity", (object) => valueAt(object, "spec", "capacity", "storage") ?? ""),
    computed("Access Modes", (object) => accessModesText(valueAt(object, "spec", "accessModes"))),
    textColumn("Reclaim Policy", "spec", "persistentVolumeReclaimPolicy"),
    computed("Status", (object) => terminating(object, textOf(valueAt(object, "status", "phase")))),
    computed("Claim", (object) => {
      const claim = valueAt(object, "spec", "claimRef");
      return claim === undefined ? "" : `${textOf(valueAt(claim, "namespace"))}/${textOf(valueAt(claim, "name"))}`;
    }),
    computed("StorageClass", (object) => valueAt(object, "spec", "storageClassName") ?? ""),
    computed("VolumeAttributesClass", (object) => valueAt(object, "spec", "volumeAttributesClassName") ?? "<unset>"),
    computed("Reason", (object) => valueAt(object, "status", "reason") ?? ""),
    ageColumn,
    wide(textColumn("VolumeMode", "spec", "volumeMode")),
  ],
  strategy: {
    applyDefaults(object) {
      if (isJsonObject(object["spec"])) {
        fill(object["spec"], { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem" });
      }
    },
    prepareCreate(object) {
      object["status"] = { phase: "Pending" } satisfies JsonObject;
    },
  },
};

export const storageKinds: readonly BuiltinKind[] = [persistentVolumeClaim, persistentVolume];
