import { apiVersionOf, type KubeObject, type ResourceType } from "@polyvirt/api/k8s";
import { hasCode, type Clock, type Logger } from "@polyvirt/core";
import {
  createController,
  keyOf,
  type Controller,
  type EventRecorder,
  type Informer,
  type KubeClient,
  type ReconcileResult,
} from "@polyvirt/kube";
import type { Expectations } from "./expectations.ts";
import { canonicalJson, controllerOf } from "./pod-template.ts";

/** What every controller of this folder works with. */
export interface ControllerDependencies {
  readonly client: KubeClient;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly events: EventRecorder;
}

interface ObjectControllerOptions<T extends KubeObject> {
  readonly name: string;
  readonly type: ResourceType<T>;
  readonly objects: Informer<T>;
  /** When one of these changes, the object that controls it is looked at again. */
  readonly owned?: readonly Pick<Informer<KubeObject>, "on">[];
  /** Nothing is decided while the cache does not show what was done last. */
  readonly expectations?: Expectations;
  /** The object carries its kind, so that events and owner references can be made from it. */
  reconcile(object: T, key: string): Promise<ReconcileResult>;
}

const unsettledMs = 1000;

/** A controller of one kind of objects: looks at each when it, or something that it owns, has changed. */
export function createObjectController<T extends KubeObject>(
  options: ObjectControllerOptions<T>,
  { clock, logger }: Pick<ControllerDependencies, "clock" | "logger">,
): Controller {
  const { name, type, objects, owned = [], expectations } = options;
  const controller = createController({
    name,
    clock,
    logger,
    async reconcile(key) {
      const found = objects.get(key);
      if (found === undefined) return {};
      if (expectations?.isSettled(key) === false) return { requeueAfterMs: unsettledMs };
      return options.reconcile(withKind(type, found), key);
    },
  });
  objects.on({ onSet: (object) => controller.enqueue(keyOf(object)) });
  const enqueueOwner = (object: KubeObject): void => {
    const owner = controllerOf(object);
    if (owner?.kind === type.kind) controller.enqueue(`${object.metadata.namespace}/${owner.name}`);
  };
  for (const informer of owned) informer.on({ onSet: enqueueOwner, onDelete: enqueueOwner });
  return controller;
}

/** Items of a list carry no kind; events about them need one. */
export function withKind<T extends KubeObject>(type: ResourceType<T>, object: T): T {
  return { ...object, apiVersion: apiVersionOf(type), kind: type.kind };
}

/** Writes a status when it says something else than the object's own; null takes a field away. */
export async function updateStatus<T extends KubeObject & { status?: object }>(
  client: KubeClient,
  type: ResourceType<T>,
  object: T,
  status: object,
): Promise<void> {
  const shown: Record<string, unknown> = { ...object.status };
  const changed = Object.entries(status).filter(
    ([field, value]) => canonicalJson(value ?? null) !== canonicalJson(shown[field] ?? null),
  );
  if (changed.length === 0) return;
  const { name = "", namespace } = object.metadata;
  await client.patch(type, name, namespace, { type: "merge", subresource: "status", body: { status } });
}

/** Deletes exactly this object; one that is gone, or whose name another one has taken, is as good as deleted. */
export async function deleteExactly<T extends KubeObject>(
  client: KubeClient,
  type: ResourceType<T>,
  { metadata: { name = "", namespace, uid } }: KubeObject,
  options: { readonly gracePeriodSeconds?: number } = {},
): Promise<boolean> {
  const preconditions = uid === undefined ? {} : { preconditions: { uid } };
  return unless(
    ["KubeNotFound", "KubeConflict"],
    client.delete(type, name, namespace, { ...options, ...preconditions }),
  );
}

/** Carries a request out; false when it failed in one of the expected ways. */
export async function unless(codes: readonly string[], request: Promise<unknown>): Promise<boolean> {
  try {
    await request;
    return true;
  } catch (error) {
    if (codes.some((code) => hasCode(error, code))) return false;
    throw error;
  }
}
