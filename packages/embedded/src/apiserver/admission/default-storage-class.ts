import { isJsonObject } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission } from "./admission.ts";

const defaultAnnotation = "storageclass.kubernetes.io/is-default-class";

/** A claim that names no storage class gets the default one; of several the newest. */
export function defaultStorageClass(objects: Objects, storageClasses: Resource): Partial<Admission> {
  return {
    async mutate({ resource, subresource, operation, object }) {
      // mutate is only called with an object.
      const claim = object as ApiObject;
      if (resource.bucket !== "persistentvolumeclaims" || subresource !== "" || operation !== "CREATE") return claim;
      const spec = claim["spec"];
      if (!isJsonObject(spec) || spec["storageClassName"] !== undefined) return claim;
      const [first] = objects
        .list(storageClasses)
        .filter((item) => item.metadata.annotations?.[defaultAnnotation] === "true")
        .sort((left, right) =>
          (left.metadata.creationTimestamp ?? "") < (right.metadata.creationTimestamp ?? "") ? 1 : -1,
        );
      if (first !== undefined) spec["storageClassName"] = first.metadata.name;
      return claim;
    },
  };
}
