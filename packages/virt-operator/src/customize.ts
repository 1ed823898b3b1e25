import { applyJsonPatch, applyMergePatch, checkPatch } from "@polyvirt/core";
import type { CustomizeComponentsPatch, KubeVirt } from "@polyvirt/api";
import type { KubeObject } from "@polyvirt/api/k8s";
import { errors } from "./errors.ts";
import type { InstallStep } from "./plan.ts";

/** Carries out the administrator's patches on what we are about to apply, so that they are no drift. */
export function customize(steps: readonly InstallStep[], kubevirt: Pick<KubeVirt, "spec">): InstallStep[] {
  const patches = kubevirt.spec.customizeComponents?.patches ?? [];
  if (patches.length === 0) return [...steps];
  return steps.map((step) => ({ ...step, objects: step.objects.map((object) => patchObject(object, patches)) }));
}

function patchObject(object: KubeObject, patches: readonly CustomizeComponentsPatch[]): KubeObject {
  let result = object;
  for (const [index, patch] of patches.entries()) {
    if (!selects(patch, object)) continue;
    try {
      result = apply(result, patch);
    } catch (cause) {
      const target = `${object.kind} ${object.metadata.name}`;
      throw errors.OperatorPatchFailed(`apply spec.customizeComponents.patches[${index}] to ${target}`, { cause });
    }
  }
  return result;
}

function selects({ resourceType, resourceName }: CustomizeComponentsPatch, object: KubeObject): boolean {
  const sameKind = resourceType.toLowerCase() === object.kind?.toLowerCase();
  return sameKind && (resourceName === "*" || resourceName === object.metadata.name);
}

function apply(object: KubeObject, { patch, type }: CustomizeComponentsPatch): KubeObject {
  const body: unknown = JSON.parse(patch);
  return type === "json" ? applyJsonPatch(object, checkPatch(body)) : applyMergePatch(object, body);
}
