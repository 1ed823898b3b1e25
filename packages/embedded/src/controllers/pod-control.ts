import { pods, type KubeObject, type Pod } from "@polyvirt/api/k8s";
import { describeError } from "@polyvirt/core";
import { keyOf, type Informer } from "@polyvirt/kube";
import type { Expectations } from "./expectations.ts";
import { deleteExactly, type ControllerDependencies } from "./object-controller.ts";

interface PodControlOptions extends Pick<ControllerDependencies, "client" | "events"> {
  readonly expectations: Expectations;
  readonly pods: Informer<Pod>;
}

/** Creates and deletes pods for a workload, with events on it and with expectations. */
export class PodControl {
  readonly #options: PodControlOptions;

  constructor(options: PodControlOptions) {
    this.#options = options;
    options.pods.on({
      onSet: (pod) => {
        options.expectations.observe(`+${pod.metadata.uid}`);
        if (pod.metadata.deletionTimestamp !== undefined) options.expectations.observe(`-${pod.metadata.uid}`);
      },
      onDelete: (pod) => options.expectations.observe(`-${pod.metadata.uid}`),
    });
  }

  async create(owner: KubeObject, key: string, pod: Pod): Promise<void> {
    const { client, events, expectations } = this.#options;
    try {
      const created = await client.create(pods, pod);
      const seen = this.#options.pods.get(keyOf(created))?.metadata.uid === created.metadata.uid;
      expectations.expect(key, `+${created.metadata.uid}`, seen);
      events.record(owner, "Normal", "SuccessfulCreate", `Created pod: ${created.metadata.name}`);
    } catch (error) {
      events.record(owner, "Warning", "FailedCreate", `Error creating: ${describeError(error)}`);
      throw error;
    }
  }

  async delete(owner: KubeObject, key: string, pod: Pod): Promise<void> {
    const { client, events, expectations } = this.#options;
    const { name = "", uid } = pod.metadata;
    if (!(await deleteExactly(client, pods, pod))) return;
    const known = this.#options.pods.get(keyOf(pod));
    const seen = known?.metadata.uid !== uid || known?.metadata.deletionTimestamp !== undefined;
    expectations.expect(key, `-${uid}`, seen);
    events.record(owner, "Normal", "SuccessfulDelete", `Deleted pod: ${name}`);
  }
}
