import { hasCode, type Clock } from "@polyvirt/core";

import type { Store } from "../../store/store.ts";
import type { Admission } from "../admission/admission.ts";
import { badRequest, conflict, fieldError, invalidOptions, notFound, type FieldError } from "../http/status-error.ts";
import { isJsonObject, valueAt, textOf } from "../json.ts";
import type { ApiObject } from "../kinds/kind.ts";
import { encodeStored, objectOf } from "./object-codec.ts";
import { isFinallyGone, timestamp } from "./objects.ts";
import type { RequestContext } from "./request-context.ts";
import { keyOf, type Resource } from "./resource.ts";

export type Propagation = "Orphan" | "Background" | "Foreground";

export interface DeleteOptions {
  readonly gracePeriodSeconds?: number;
  readonly propagationPolicy?: Propagation;
  readonly orphanDependents?: boolean;
  readonly preconditions?: { readonly uid?: string; readonly resourceVersion?: string };
  readonly dryRun?: readonly string[];
}

export const orphanFinalizer = "orphan";
export const foregroundFinalizer = "foregroundDeletion";

export interface Deleted {
  readonly object: ApiObject;
  /** False when the object is only marked and still waits for its finalizers or its grace period. */
  readonly gone: boolean;
}

interface DeletionDeps {
  readonly store: Store;
  readonly clock: Clock;
  admission(): Admission;
}

const maxAttempts = 20;

/** Deletes at once where nothing holds the object, and otherwise marks it, so that its holders can finish. */
export class Deletion {
  readonly #deps: DeletionDeps;

  constructor(deps: DeletionDeps) {
    this.#deps = deps;
  }

  async delete(
    context: RequestContext,
    resource: Resource,
    namespace: string,
    name: string,
    options: DeleteOptions = {},
  ): Promise<Deleted> {
    const { store } = this.#deps;
    const key = keyOf(resource, namespace, name);
    let admitted = false;
    for (let attempt = 1; ; attempt++) {
      const entry = store.get(key);
      if (entry === undefined) throw notFound(resource, name);
      const current = objectOf(resource, entry);
      checkPreconditions(resource, current, options);
      if (!admitted) {
        const request = { context, resource, subresource: "", operation: "DELETE", namespace, name } as const;
        await this.#deps.admission().validate({ ...request, object: undefined, old: current, options: { ...options } });
        admitted = true;
      }
      const marked = this.#mark(resource, current, options);
      const gone = isFinallyGone(resource, marked);
      if (context.dryRun) return { object: marked, gone };
      if (!gone && isSameMark(marked, current)) return { object: current, gone: false };
      try {
        const encode = (revision: number) => encodeStored(resource, marked, revision);
        const written = gone
          ? await store.remove(key, entry.revision, encode)
          : await store.put(key, entry.revision, encode);
        return { object: objectOf(resource, written), gone };
      } catch (error) {
        if (!hasCode(error, "StoreConflict")) throw error;
        if (attempt >= maxAttempts) throw conflict(resource, name);
      }
    }
  }

  #mark(resource: Resource, current: ApiObject, options: DeleteOptions): ApiObject {
    const metadata = { ...current.metadata };
    const finalizers = finalizersAfter(metadata.finalizers ?? [], options);
    if (finalizers.length > 0) metadata.finalizers = finalizers;
    else delete metadata.finalizers;
    const grace = graceOf(resource, current, options);
    const earlier = current.metadata.deletionGracePeriodSeconds;
    if (metadata.deletionTimestamp === undefined || (earlier !== undefined && grace < earlier)) {
      metadata.deletionTimestamp = timestamp(this.#deps.clock.now() + grace * 1000);
      metadata.deletionGracePeriodSeconds = grace;
      if (current.metadata.deletionTimestamp === undefined && metadata.generation !== undefined) metadata.generation++;
    }
    const marked: ApiObject = { ...current, metadata };
    if (resource.bucket === "namespaces") {
      const status = isJsonObject(current["status"]) ? current["status"] : {};
      marked["status"] = { ...status, phase: "Terminating" };
    }
    return marked;
  }
}

function checkPreconditions(resource: Resource, current: ApiObject, { preconditions }: DeleteOptions): void {
  const name = current.metadata.name ?? "";
  // Kubernetes names the kind here, where other conflicts name the resource.
  const named = { group: resource.group, plural: resource.kind };
  const { uid, resourceVersion } = preconditions ?? {};
  if (uid !== undefined && uid !== current.metadata.uid) {
    throw conflict(
      named,
      name,
      `the UID in the precondition (${uid}) does not match the UID in record (${current.metadata.uid}). The object might have been deleted and then recreated`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== current.metadata.resourceVersion) {
    throw conflict(
      named,
      name,
      `the ResourceVersion in the precondition (${resourceVersion}) does not match the ResourceVersion in record (${current.metadata.resourceVersion}). The object might have been modified`,
    );
  }
}

/** How dependents are treated is remembered as a finalizer, which the garbage collector removes when it is done. */
function finalizersAfter(
  finalizers: readonly string[],
  { propagationPolicy, orphanDependents }: DeleteOptions,
): string[] {
  if (propagationPolicy === undefined && orphanDependents === undefined) return [...finalizers];
  const own = finalizers.filter((finalizer) => finalizer !== orphanFinalizer && finalizer !== foregroundFinalizer);
  if (propagationPolicy === "Orphan" || orphanDependents === true) return [...own, orphanFinalizer];
  return propagationPolicy === "Foreground" ? [...own, foregroundFinalizer] : own;
}

/** Only pods end gracefully: while a kubelet has them, it deletes them finally when their processes are gone. */
function graceOf(resource: Resource, current: ApiObject, { gracePeriodSeconds }: DeleteOptions): number {
  if (resource.bucket !== "pods") return 0;
  const phase = valueAt(current, "status", "phase");
  const unscheduled = (valueAt(current, "spec", "nodeName") ?? "") === "";
  if (unscheduled || phase === "Succeeded" || phase === "Failed") return 0;
  const own = valueAt(current, "spec", "terminationGracePeriodSeconds");
  return Math.max(0, gracePeriodSeconds ?? (typeof own === "number" ? own : 30));
}

function isSameMark(marked: ApiObject, current: ApiObject): boolean {
  const same = (key: "deletionTimestamp" | "deletionGracePeriodSeconds"): boolean =>
    marked.metadata[key] === current.metadata[key];
  const finalizers = (object: ApiObject): string => (object.metadata.finalizers ?? []).join(",");
  return same("deletionTimestamp") && same("deletionGracePeriodSeconds") && finalizers(marked) === finalizers(current);
}

const policies = ["Foreground", "Background", "Orphan"];

/** Reads options from the body and the query; the body says more and wins. */
export function parseDeleteOptions(body: unknown, query: URLSearchParams): DeleteOptions {
  const given = isJsonObject(body) ? body : {};
  const kind = given["kind"];
  if (kind !== undefined && kind !== "DeleteOptions")
    throw badRequest(
      `no kind ${JSON.stringify(kind)} is registered for version ${JSON.stringify(given["apiVersion"])}`,
    );
  const wrong = (error: FieldError) => invalidOptions("DeleteOptions", error);
  const grace = given["gracePeriodSeconds"] ?? numberOf(query.get("gracePeriodSeconds"));
  const policy = given["propagationPolicy"] ?? query.get("propagationPolicy") ?? undefined;
  if (policy !== undefined && !policies.includes(textOf(policy))) {
    throw wrong(fieldError.notSupported("propagationPolicy", policy, [...policies, "nil"]));
  }
  const { preconditions, orphanDependents, dryRun } = given;
  if (orphanDependents !== undefined && policy !== undefined) {
    const detail = "orphanDependents and deletionPropagation cannot be both set";
    throw wrong(fieldError.invalid("propagationPolicy", policy, detail));
  }
  if (Array.isArray(dryRun) && dryRun.some((value) => value !== "All"))
    throw wrong(fieldError.notSupported("dryRun", dryRun, ["All"]));
  return {
    ...(typeof grace === "number" ? { gracePeriodSeconds: grace } : {}),
    // Checked above against the three names.
    ...(policy === undefined ? {} : { propagationPolicy: policy as Propagation }),
    ...(typeof orphanDependents === "boolean" ? { orphanDependents } : {}),
    ...(isJsonObject(preconditions) ? { preconditions } : {}),
    ...(Array.isArray(dryRun) ? { dryRun: dryRun.map(String) } : {}),
  };
}

function numberOf(text: string | null): number | undefined {
  return text !== null && /^\d+$/.test(text) ? Number(text) : undefined;
}
