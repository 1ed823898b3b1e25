import { describeError, hasCode, type Clock, type Logger } from "@polyvirt/core";
import { finalizers, type KubeVirt } from "@polyvirt/api";
import type { KubeObject, Secret } from "@polyvirt/api/k8s";
import type { EventRecorder, KubeClient, ReconcileResult } from "@polyvirt/kube";
import { certificateSecrets, planCertificates, readRotationPolicy } from "./certificates.ts";
import {
  checkConfiguration,
  type ConfigurationProblem,
  type HypervisorRegistry,
  type KnownHypervisors,
} from "@polyvirt/hypervisor";
import { customize } from "./customize.ts";
import type { RoleImages } from "./images.ts";
import { isOwn, readInstallation, type Installation } from "./installation.ts";
import type { InstalledObjects } from "./installed-objects.ts";
import { ensureFinalizer, removeFinalizer } from "./kubevirt-object.ts";
import { planInstallation, type InstallStep } from "./plan.ts";
import { whyNotReady } from "./readiness.ts";
import { report } from "./report.ts";
import type { Outcome } from "./status.ts";
import { uninstall } from "./uninstall.ts";

export interface ReconcileDeps {
  readonly client: Pick<KubeClient, "list" | "patch" | "delete">;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly objects: InstalledObjects;
  readonly recorder: Pick<EventRecorder, "record">;
  /** Where this operator runs; the KubeVirt object must be there too. */
  readonly namespace: string;
  readonly version: string;
  readonly images: RoleImages;
  readonly hypervisorModules?: readonly string[];
  readonly architecture: string;
  readonly hypervisors: KnownHypervisors & Pick<HypervisorRegistry, "select">;
}

/** Timers cannot run for months; looking at certificates now and then costs nothing. */
const LOOK_AGAIN_MS = 60 * 60 * 1000;

/**
 * Brings the installation to what its KubeVirt object asks for. Waiting ends the call: whatever is waited for wakes us
 * again through the watches.
 */
export async function reconcileKubeVirt(
  kubevirt: KubeVirt,
  others: readonly KubeVirt[],
  deps: ReconcileDeps,
): Promise<ReconcileResult> {
  if (kubevirt.metadata.deletionTimestamp !== undefined) return removeInstallation(kubevirt, deps);
  const problems = [...checkPlace(kubevirt, others, deps), ...checkConfiguration(kubevirt, deps.hypervisors)];
  if (problems.some(({ blocks }) => blocks)) {
    await report(kubevirt, { state: "refused", problems }, deps);
    return {};
  }
  const installation = readInstallation(kubevirt, deps);
  const current = await ensureFinalizer(deps.client, kubevirt);
  try {
    return await install(current, installation, problems, deps);
  } catch (error) {
    // A lost race is no failure of the installation; the next call sees the newer object.
    if (!hasCode(error, "KubeConflict")) {
      await report(current, { state: "failed", message: describeError(error) }, deps, installation);
    }
    throw error;
  }
}

async function install(
  kubevirt: KubeVirt,
  installation: Installation,
  notes: readonly ConfigurationProblem[],
  deps: ReconcileDeps,
): Promise<ReconcileResult> {
  const nowMs = deps.clock.now();
  const existing = existingSecrets(installation, deps.objects);
  const certificates = planCertificates(installation, existing, readRotationPolicy(kubevirt), nowMs);
  const previousVersion = kubevirt.status?.observedKubeVirtVersion;
  const updating = previousVersion !== undefined && previousVersion !== installation.version;
  const steps = customize(planInstallation({ installation, certificates, updating }), kubevirt);

  for (const step of steps) {
    await applyStep(kubevirt, step, deps);
    const waitingFor = step.wait ? notReady(step.objects, deps.objects) : [];
    if (waitingFor.length > 0) {
      await report(kubevirt, { state: "deploying", waitingFor, notes }, deps, installation);
      return {};
    }
  }
  const wanted = steps.flatMap(({ objects }) => objects);
  await removeStale(installation, wanted, deps);
  const waitingFor = notReady(wanted, deps.objects);
  const outcome: Outcome =
    waitingFor.length > 0
      ? { state: "deploying", waitingFor, notes }
      : { state: "deployed", generations: deps.objects.generations(wanted), notes };
  await report(kubevirt, outcome, deps, installation);
  return { requeueAfterMs: Math.min(Math.max(certificates.renewAtMs - nowMs, 1000), LOOK_AGAIN_MS) };
}

async function applyStep(kubevirt: KubeVirt, step: InstallStep, deps: ReconcileDeps): Promise<void> {
  const written = await deps.objects.apply(step.objects);
  if (written.length === 0) return;
  const names = written.map((object) => `${object.kind} ${object.metadata.name}`);
  deps.logger.info("applied objects", { step: step.name, objects: names });
  if (kubevirt.status?.phase === "Deployed") {
    deps.recorder.record(kubevirt, "Normal", "Applied", `Brought up to date: ${names.join(", ")}.`);
  }
}

/** Objects that an earlier configuration or version had and this one does not. */
async function removeStale(
  installation: Installation,
  wanted: readonly KubeObject[],
  deps: ReconcileDeps,
): Promise<void> {
  const idOf = ({ kind, metadata }: KubeObject): string => `${kind} ${metadata.namespace ?? ""}/${metadata.name}`;
  const ids = new Set(wanted.map(idOf));
  const stale = deps.objects.all().filter((object) => isOwn(installation, object) && !ids.has(idOf(object)));
  for (const object of stale) {
    deps.logger.info("removing an object that is no longer wanted", { kind: object.kind, name: object.metadata.name });
    await deps.objects.remove(object);
  }
}

function notReady(wanted: readonly KubeObject[], objects: InstalledObjects): string[] {
  return wanted.flatMap((object) => {
    const observed = objects.find(object);
    const why = observed === undefined ? "it is not seen yet" : whyNotReady(observed);
    return why === undefined ? [] : [`${object.kind} ${object.metadata.name}: ${why}`];
  });
}

function existingSecrets(installation: Installation, objects: InstalledObjects): Map<string, Secret> {
  const found = new Map<string, Secret>();
  for (const name of certificateSecrets) {
    const secret = objects.find({ kind: "Secret", metadata: { name, namespace: installation.namespace } });
    // A secret of our name that another installation left is no reason to trust its keys.
    if (secret !== undefined && isOwn(installation, secret)) found.set(name, secret);
  }
  return found;
}

/** One installation for a cluster, in the operator's namespace. The oldest object is the one. */
function checkPlace(
  kubevirt: KubeVirt,
  others: readonly KubeVirt[],
  deps: Pick<ReconcileDeps, "namespace">,
): ConfigurationProblem[] {
  const { namespace } = kubevirt.metadata;
  if (namespace !== deps.namespace) {
    const message = `must be ${deps.namespace}, where virt-operator runs`;
    return [{ field: "metadata.namespace", message, blocks: true }];
  }
  const rank = ({ metadata }: KubeVirt): string => `${metadata.creationTimestamp} ${metadata.uid}`;
  const first = others.find((other) => other.metadata.namespace === deps.namespace && rank(other) < rank(kubevirt));
  if (first === undefined) return [];
  const message = `asks for a second installation; ${first.metadata.name} is in charge of this cluster`;
  return [{ field: "metadata.name", message, blocks: true }];
}

async function removeInstallation(kubevirt: KubeVirt, deps: ReconcileDeps): Promise<ReconcileResult> {
  if (kubevirt.metadata.finalizers?.includes(finalizers.operator) !== true) return {};
  const outcome = await uninstall(kubevirt, deps);
  if (outcome === undefined) {
    await removeFinalizer(deps.client, kubevirt);
    return {};
  }
  await report(kubevirt, outcome, deps);
  // Machines are not watched here, so their end does not wake us.
  return { requeueAfterMs: 2000 };
}
