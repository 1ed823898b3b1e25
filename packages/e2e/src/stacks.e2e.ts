import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { TestCluster, eventually } from "./cluster.ts";
import { typeInConsole } from "./console.ts";
import { guestManifest } from "./guest.ts";
import { chooseStack, stacks, type StackName } from "./stacks.ts";

interface FullVmi {
  metadata: { uid: string };
  status?: Record<string, unknown> & {
    phase?: string;
    conditions?: { type: string; status: string; reason?: string }[];
  };
}

/** What a user sees of one life of a guest, with what differs from one life to the next left out. */
interface Story {
  readonly running: { readonly fields: string[]; readonly conditions: string[] };
  readonly paused: string[];
  readonly events: string[];
}

describe("the same guest on either stack", () => {
  let cluster: TestCluster;
  const stories = new Map<StackName, Story>();
  beforeAll(async () => {
    cluster = await TestCluster.create();
    await cluster.up();
    await cluster.polyvirt("image", "build-demo");
  });
  afterAll(() => cluster.destroy());

  const look = (name: string) => cluster.json<FullVmi>("get", "vmi", name);
  const conditions = (vmi: FullVmi) =>
    (vmi.status?.conditions ?? []).map(({ type, status, reason }) => `${type}=${status} ${reason ?? ""}`).toSorted();

  it.each(stacks)("lives on stack-%s", async (stack) => {
    await chooseStack(cluster, stack);
    const name = "wanderer";
    const applied = await cluster.apply(guestManifest(name));
    expect(applied).toMatchObject({ code: 0, stderr: "" });
    await eventually(
      () => look(name),
      (vmi) => vmi.status?.phase === "Running",
    );
    const image = await cluster.kubectl(
      "get",
      "pods",
      "-l",
      "kubevirt.io=virt-launcher",
      "-o",
      "jsonpath={.items[*].spec.containers[0].image}",
    );
    expect(image.stdout).toContain(`virt-launcher-${stack}:`);
    await typeInConsole(cluster, name, { input: "echo $((6 * 7))-typed\n", until: /42-typed/ });
    const running = await eventually(
      () => look(name),
      (vmi) => conditions(vmi).some((line) => line.startsWith("Ready=True")),
    );
    const subresource = async (verb: string) => {
      const path = `/apis/subresources.kubevirt.io/v1/namespaces/default/virtualmachineinstances/${name}/${verb}`;
      const answer = await cluster.kubectl("replace", "--raw", path, "-f", "/dev/null");
      expect(answer).toMatchObject({ code: 0, stderr: "" });
    };
    await subresource("pause");
    const paused = await eventually(
      () => look(name),
      (vmi) => conditions(vmi).some((line) => line.startsWith("Paused=True")),
    );
    await subresource("unpause");
    await eventually(
      () => look(name),
      (vmi) => !conditions(vmi).some((line) => line.startsWith("Paused=True")),
    );
    await cluster.kubectl("delete", "vmi", name, "--timeout=60s");
    const selector = `involvedObject.uid=${running.metadata.uid}`;
    const events = await cluster.kubectl(
      "get",
      "events",
      "--field-selector",
      selector,
      "-o",
      "jsonpath={range .items[*]}{.type} {.reason}: {.message}{'\\n'}{end}",
    );
    stories.set(stack, {
      running: { fields: Object.keys(running.status ?? {}).toSorted(), conditions: conditions(running) },
      paused: conditions(paused),
      events: events.stdout
        .trim()
        .split("\n")
        .map((line) => line.replaceAll(/virt-launcher-wanderer-\w+/g, "POD"))
        .toSorted(),
    });
  });

  it("tells the same story", () => {
    expect(stories.get("libvirt")).toEqual(stories.get("qemu"));
  });
});
