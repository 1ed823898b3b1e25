import * as fs from "node:fs";
import * as path from "node:path";
import type { Container, EphemeralContainer, Pod } from "@polyvirt/api/k8s";
import { describeError, hasCode } from "@polyvirt/core";
import {
  createLogPump,
  startContainer,
  type ContainerMount,
  type ContainerProcess,
  type ProcessIdentity,
} from "@polyvirt/host";
import { errors } from "../errors.ts";
import type { CatalogueImage } from "../images/image-catalogue.ts";
import { buildContainerSpec, hostnameOf } from "./container-spec-builder.ts";
import type { DeviceGrant } from "./devices/device-pool.ts";
import type { DownwardFacts } from "./downward.ts";
import { resolveEnvironment } from "./environment.ts";
import { hostsFile } from "./hosts-file.ts";
import { retryDelay, waitForImage } from "./image-pull.ts";
import { runLifecycleHook } from "./lifecycle-hook.ts";
import type { NodeContext } from "./node-context.ts";
import { containerRecord, type ContainerRecord, type PodRecord } from "./pod-record.ts";
import { ensureSandbox } from "./pod-sandbox.ts";
import { deviceMounts } from "./volumes/block-volume.ts";

const postStartMs = 120_000;
const defaultPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Starts one run of a container, or records why it has to wait. */
export class ContainerStarter {
  readonly #context: NodeContext;
  readonly #wake: (uid: string) => void;

  constructor(context: NodeContext, wake: (uid: string) => void) {
    this.#context = context;
    this.#wake = wake;
  }

  async start(record: PodRecord, container: Container, attempt: number): Promise<void> {
    const known = containerRecord(record, container.name);
    const image = this.#findImage(record, container, known);
    if (image === undefined) return;
    try {
      await this.#run(record, container, known, image, attempt);
    } catch (error) {
      this.#refuse(record, container, known, error);
    }
  }

  factsOf(record: PodRecord): DownwardFacts {
    const { nodeName, nodeAddress, allocatable } = this.#context;
    return { nodeName, hostIP: nodeAddress, podIP: record.ip, allocatable: allocatable() };
  }

  #findImage(record: PodRecord, container: Container, known: ContainerRecord): CatalogueImage | undefined {
    const { catalogue, events } = this.#context;
    const reference = container.image ?? "";
    let problem: string;
    let invalid = false;
    try {
      const image = catalogue.find(reference);
      if (image !== undefined) {
        events.record(record.pod, "Normal", "Pulled", `Container image "${reference}" already present on machine`);
        return image;
      }
      problem = `"${reference}" is not in this machine's image catalogue; add it with: polyvirt image add ${reference} --exec COMMAND`;
    } catch (error) {
      problem = describeError(error);
      invalid = hasCode(error, "ImageReferenceInvalid");
    }
    const pullPolicy = container.imagePullPolicy ?? "IfNotPresent";
    waitForImage(this.#context, record, known, { reference, problem, invalid, pullPolicy });
    return undefined;
  }

  async #run(
    record: PodRecord,
    container: Container,
    known: ContainerRecord,
    image: CatalogueImage,
    attempt: number,
  ): Promise<void> {
    const { paths, clock, events } = this.#context;
    const directory = paths.container(record.uid, container.name, attempt);
    if (record.pod.spec.shareProcessNamespace === true) record.sandbox = await ensureSandbox(record, this.#context);
    const grants = await this.#context.devices.prepareStart(record.pod, container);
    const environment = await this.#environment(record, container, image);
    if (container.tty === true && !environment.has("TERM")) environment.set("TERM", "xterm");
    for (const grant of grants)
      for (const [name, value] of Object.entries(grant.environment)) environment.set(name, value);
    fs.mkdirSync(directory, { recursive: true, mode: 0o700 });
    const annotations = Object.assign({}, ...grants.map((grant) => grant.annotations)) as Record<string, string>;
    fs.writeFileSync(path.join(directory, "annotations.json"), JSON.stringify(annotations), { mode: 0o600 });
    const built = buildContainerSpec(record.pod, container, {
      image,
      environment,
      volumes: record.volumes,
      extraMounts: [
        ...this.#extraMounts(record, container, directory),
        ...grants.flatMap((grant) => grantMounts(grant, container)),
        ...(await deviceMounts(record.pod, container, record.volumes, directory)),
      ],
      devices: grants.flatMap(({ devices }) =>
        devices.filter(isCopied).map(({ hostPath, containerPath }) => ({ source: hostPath, target: containerPath })),
      ),
      maskedDirectories: this.#context.maskedDirectories,
      visiblePaths: this.#context.visiblePaths,
      ...(record.networkNamespace === undefined ? {} : { networkNamespace: record.networkNamespace }),
      privileged: container.securityContext?.privileged === true,
      ...processNamespaceOf(record, container),
      groupName: `${this.#context.groups.name}/${record.uid}/${container.name}-${attempt}`,
    });
    this.#removeOldRun(record, container, attempt - 2);
    events.record(record.pod, "Normal", "Created", `Created container: ${container.name}`);
    const process = startContainer(directory, built.spec, clock);
    const pump = createLogPump({ directory, logFile: paths.log(record.uid, container.name, attempt), clock });
    if (process.unenforced.length > 0 && attempt === 0) {
      const limits = process.unenforced.join(" and ");
      const message = `The ${limits} limit of container ${container.name} is not enforced: this node cannot make control groups for it`;
      events.record(record.pod, "Warning", "LimitsNotEnforced", message);
    }
    known.pump?.close();
    Object.assign(known, { attempt, process, pump, failures: 0, launchedAt: clock.monotonic() });
    delete known.waiting;
    delete known.stopping;
    let began = false;
    process.onChange(() => {
      if (!began) {
        began = true;
        built.release();
        if (process.state().phase === "running") this.#begun(record, container, process);
      }
      this.#wake(record.uid);
    });
  }

  /** The last run and the one before are shown; what came earlier is not. */
  #removeOldRun(record: PodRecord, container: Container, attempt: number): void {
    if (attempt < 0) return;
    const { paths } = this.#context;
    fs.rmSync(paths.container(record.uid, container.name, attempt), { recursive: true, force: true });
    const log = paths.log(record.uid, container.name, attempt);
    for (const file of [log, ...Array.from({ length: 9 }, (_, index) => `${log}.${index + 1}`)])
      fs.rmSync(file, { force: true });
  }

  #begun(record: PodRecord, container: Container, process: ContainerProcess): void {
    const { events, clock } = this.#context;
    events.record(record.pod, "Normal", "Started", `Started container ${container.name}`);
    const hook = container.lifecycle?.postStart;
    if (hook === undefined) return;
    void runLifecycleHook(record, container, hook, postStartMs, clock)
      .catch((error: unknown) => describeError(error))
      .then((problem) => {
        if (problem === undefined) return undefined;
        events.record(record.pod, "Warning", "FailedPostStartHook", `PostStartHook failed: ${problem}`);
        return process.kill();
      });
  }

  #refuse(record: PodRecord, container: Container, known: ContainerRecord, error: unknown): void {
    const { clock, events } = this.#context;
    const message = describeError(error);
    const reason =
      hasCode(error, "KubeletConfigMissing") || hasCode(error, "KubeletPodRefused")
        ? "CreateContainerConfigError"
        : "CreateContainerError";
    known.waiting = { reason, message, until: clock.now() + retryDelay(known.failures++) };
    events.record(record.pod, "Warning", "Failed", `Error: ${message}`);
  }

  async #environment(record: PodRecord, container: Container, image: CatalogueImage): Promise<Map<string, string>> {
    const namespace = record.pod.metadata.namespace ?? "";
    const { configMaps, secrets } = referencedNames(container);
    const { api } = this.#context;
    const configMapsByName = await fetchAll(configMaps, (name) => api.configMap(namespace, name));
    const secretsByName = await fetchAll(secrets, (name) => api.secret(namespace, name));
    return resolveEnvironment(record.pod, container, {
      base: new Map([...this.#baseEnvironment(record.pod), ...Object.entries(image.environment ?? {})]),
      facts: this.factsOf(record),
      sources: {
        configMap: (name) => configMapsByName.get(name),
        secret: (name) => secretsByName.get(name),
      },
    });
  }

  #baseEnvironment(pod: Pod): [string, string][] {
    const { host, port } = this.#context.apiServer;
    return [
      ["PATH", defaultPath],
      ["HOME", "/root"],
      ["HOSTNAME", hostnameOf(pod)],
      ["KUBERNETES_SERVICE_HOST", host],
      ["KUBERNETES_SERVICE_PORT", String(port)],
      ["KUBERNETES_SERVICE_PORT_HTTPS", String(port)],
      ["KUBERNETES_PORT", `tcp://${host}:${port}`],
    ];
  }

  #extraMounts(record: PodRecord, container: Container, directory: string): ContainerMount[] {
    const mounts: ContainerMount[] = [];
    const common = { kind: "file", readOnly: false, recursive: false } as const;
    const taken = new Set((container.volumeMounts ?? []).map(({ mountPath }) => mountPath));
    if (record.pod.spec.hostNetwork !== true && !taken.has("/etc/hosts")) {
      const file = path.join(this.#context.paths.podRuntime(record.uid), "etc-hosts");
      fs.writeFileSync(file, hostsFile(record.pod, record.ip), { mode: 0o644 });
      mounts.push({ ...common, source: file, target: "/etc/hosts" });
    }
    const messagePath = container.terminationMessagePath ?? "/dev/termination-log";
    // A privileged container shares the machine's /dev, where no file of a pod belongs.
    const inMachineDev = container.securityContext?.privileged === true && messagePath.startsWith("/dev/");
    if (messagePath.startsWith("/") && !inMachineDev && !taken.has(messagePath)) {
      const file = path.join(directory, "termination-log");
      fs.writeFileSync(file, "", { mode: 0o666 });
      fs.chmodSync(file, 0o666);
      mounts.push({ ...common, source: file, target: messagePath });
    }
    return mounts;
  }
}

/** All containers of the pod share one, or a container for debugging joins that of another. */
function processNamespaceOf(record: PodRecord, container: EphemeralContainer): { processNamespace?: ProcessIdentity } {
  if (record.sandbox !== undefined) return { processNamespace: record.sandbox };
  const target = container.targetContainerName ?? "";
  if (target === "") return {};
  const state = record.containers.get(target)?.process?.state();
  if (state?.phase === "running") return { processNamespace: state.init };
  throw errors.KubeletConfigMissing(
    `container ${target}, whose processes ${container.name} wants to see, does not run`,
  );
}

/** Real devices become nodes of the container's own, which only root can make; whatever else a plug-in names is bound. */
function isCopied({ hostPath, containerPath }: DeviceGrant["devices"][number]): boolean {
  if (process.getuid?.() !== 0 || !containerPath.startsWith("/dev/")) return false;
  const found = fs.statSync(hostPath, { throwIfNoEntry: false });
  return found?.isCharacterDevice() === true || found?.isBlockDevice() === true;
}

/** What a container gets mounted for its devices; a privileged container has the devices themselves already. */
function grantMounts(grant: DeviceGrant, container: Container): ContainerMount[] {
  const privileged = container.securityContext?.privileged === true;
  const devices = privileged ? [] : grant.devices.filter((device) => !isCopied(device));
  return [
    ...devices.map(({ hostPath, containerPath }): ContainerMount => ({
      source: hostPath,
      target: containerPath,
      kind: "file",
      readOnly: false,
      recursive: false,
    })),
    ...grant.mounts.map(({ hostPath, containerPath, readOnly }): ContainerMount => ({
      source: hostPath,
      target: containerPath,
      kind: fs.statSync(hostPath).isDirectory() ? "directory" : "file",
      readOnly,
      recursive: true,
    })),
  ];
}

function referencedNames(container: Container): { configMaps: Set<string>; secrets: Set<string> } {
  const configMaps = new Set<string>();
  const secrets = new Set<string>();
  for (const { configMapRef, secretRef } of container.envFrom ?? []) {
    if (configMapRef?.name !== undefined) configMaps.add(configMapRef.name);
    if (secretRef?.name !== undefined) secrets.add(secretRef.name);
  }
  for (const { valueFrom } of container.env ?? []) {
    if (valueFrom?.configMapKeyRef?.name !== undefined) configMaps.add(valueFrom.configMapKeyRef.name);
    if (valueFrom?.secretKeyRef?.name !== undefined) secrets.add(valueFrom.secretKeyRef.name);
  }
  return { configMaps, secrets };
}

async function fetchAll<T>(
  names: ReadonlySet<string>,
  fetch: (name: string) => Promise<T | undefined>,
): Promise<Map<string, T>> {
  const found = new Map<string, T>();
  for (const name of names) {
    const object = await fetch(name);
    if (object !== undefined) found.set(name, object);
  }
  return found;
}
