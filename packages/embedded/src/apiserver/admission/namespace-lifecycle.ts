import { forbidden, notFound, type StatusError } from "../http/status-error.ts";
import { valueAt } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import type { Objects } from "../registry/objects.ts";
import type { Resource } from "../registry/resource.ts";
import type { Admission, AdmissionRequest } from "./admission.ts";

const protectedNamespaces = new Set(["default", "kube-system", "kube-public"]);

/** Nothing is created in a namespace that is not there or is going away; the cluster's own namespaces stay. */
export function namespaceLifecycle(objects: Objects, namespaces: Resource): Partial<Admission> {
  const check = ({ resource, operation, namespace, name, context, object }: AdmissionRequest): void => {
    if (operation === "DELETE" && resource.bucket === "namespaces" && protectedNamespaces.has(name)) {
      throw forbidden(namespaces, name, "this namespace may not be deleted");
    }
    if (operation !== "CREATE" || !resource.namespaced || resource.virtual) return;
    const found = objects.find(namespaces, "", namespace);
    if (found === undefined) throw notFound(namespaces, namespace);
    const terminating =
      found.metadata.deletionTimestamp !== undefined || valueAt(found, "status", "phase") === "Terminating";
    if (terminating && !isAboutDeletion(resource, context.user.username)) {
      throw terminatingError(resource, namespace, object?.metadata.name ?? name);
    }
  };
  return {
    // Before others look at the object, so that the answer is about the namespace and not about what is missing in it.
    async mutate(request) {
      check(request);
      return request.object as ApiObject;
    },
    async validate(request) {
      check(request);
    },
  };
}

function terminatingError(resource: Resource, namespace: string, name: string): StatusError {
  const why = `unable to create new content in namespace ${namespace} because it is being terminated`;
  const error = forbidden(resource, name, why);
  const message = `namespace ${namespace} is being terminated`;
  error.status.details = {
    ...error.status.details,
    causes: [{ reason: "NamespaceTerminating", message, field: "metadata.namespace" }],
  };
  return error;
}

/** Events about what is being deleted still come in. */
const isAboutDeletion = (resource: Resource, user: string): boolean =>
  resource.plural === "events" && user.startsWith("system:");
