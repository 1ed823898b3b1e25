import { forbidden, notFound } from "../http/status-error.ts";
import { valueAt } from "../json.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission } from "./admission.ts";

const protectedNamespaces = new Set(["default", "kube-system", "kube-public"]);

/** Nothing is created in a namespace that is not there or is going away; the cluster's own namespaces stay. */
export function namespaceLifecycle(objects: Objects, namespaces: Resource): Partial<Admission> {
  return {
    async validate({ resource, operation, namespace, name, context, object }) {
      if (resource.bucket === "namespaces") {
        if (operation === "DELETE" && protectedNamespaces.has(name)) {
          throw forbidden(namespaces, name, "this namespace may not be deleted");
        }
        return;
      }
      if (operation !== "CREATE" || !resource.namespaced || resource.virtual) return;
      const found = objects.find(namespaces, "", namespace);
      if (found === undefined) throw notFound(namespaces, namespace);
      const terminating =
        found.metadata.deletionTimestamp !== undefined || valueAt(found, "status", "phase") === "Terminating";
      if (!terminating || isAboutDeletion(resource, context.user.username)) return;
      const error = forbidden(
        resource,
        object?.metadata.name ?? name,
        `unable to create new content in namespace ${namespace} because it is being terminated`,
      );
      error.status.details = {
        ...error.status.details,
        causes: [
          {
            reason: "NamespaceTerminating",
            message: `namespace ${namespace} is being terminated`,
            field: "metadata.namespace",
          },
        ],
      };
      throw error;
    },
  };
}

/** Events about what is being deleted still come in. */
const isAboutDeletion = (resource: Resource, user: string): boolean =>
  resource.plural === "events" && user.startsWith("system:");
