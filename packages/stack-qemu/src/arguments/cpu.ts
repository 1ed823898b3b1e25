import { errors } from "@polyvirt/stack";
import type { Cpu } from "./definition-types.ts";
import type { DomainSection, MachinePlan } from "./machine-plan.ts";
import type { Section } from "./section.ts";

/** `-cpu` and `-smp`. */
export function addCpu(domain: DomainSection, plan: MachinePlan): void {
  const cpu = domain.child("cpu");
  addModel(cpu, plan);
  addCount(domain, plan, cpu);
}

type CpuSection = Section<Cpu>;

function addModel(cpu: CpuSection | undefined, plan: MachinePlan): void {
  if (cpu === undefined) return plan.setCpu(defaultModel(plan));
  // How strictly libvirt compares the CPU with the host's: QEMU's own `enforce` does that where the host matters.
  cpu.skip("match", "check", "vendor");
  const mode = cpu.oneOf("mode", ["custom", "host-model", "host-passthrough", "maximum"]);
  const model = cpu.child("model");
  model?.skip("fallback");
  if (mode !== "custom" && mode !== undefined) {
    const host = plan.virtType === "qemu" ? plan.architecture.emulatedHostCpu : { model: "host", flags: {} };
    // A model beside host-model is what libvirt once expanded it to.
    model?.skip("value");
    const migratable = cpu.toggle("migratable");
    plan.setCpu(host.model, {
      ...host.flags,
      migratable: plan.architecture.name === "x86_64" ? migratable : undefined,
    });
  } else {
    const name = model?.text("value");
    if (name !== undefined && !/^[A-Za-z0-9._-]+$/.test(name))
      throw cpu.refuse("model", "this is not the name of a CPU");
    plan.setCpu(name ?? defaultModel(plan));
  }
  const vendor = model?.text("vendorId");
  if (vendor !== undefined) plan.setCpu(undefined, { vendor });
  for (const feature of cpu.children("features")) {
    const name = feature.requireText("name");
    if (!/^[a-z0-9._-]+$/i.test(name)) throw feature.refuse("name", "this is not the name of a CPU feature");
    if (setByGuest.has(name)) {
      feature.skip("policy");
      continue;
    }
    const policy = feature.oneOf("policy", ["force", "require", "optional", "disable", "forbid"]) ?? "require";
    plan.setCpu(undefined, { [qemuFeatureNames[name] ?? name]: !["disable", "forbid"].includes(policy) });
  }
  addCache(cpu, plan);
  const bits = cpu.child("maxphysaddr");
  if (bits?.oneOf("mode", ["emulate", "passthrough"]) === "passthrough")
    plan.setCpu(undefined, { "host-phys-bits": true, "host-phys-bits-limit": bits.number("limit") });
  else if (bits !== undefined) plan.setCpu(undefined, { "phys-bits": bits.number("bits") });
}

/** KVM cannot give an ARM guest another CPU than the host's. */
function defaultModel(plan: MachinePlan): string | undefined {
  const { name, defaultCpu } = plan.architecture;
  return name === "aarch64" && plan.virtType !== "qemu" ? "host" : defaultCpu;
}

/** Whether the guest sees the host's caches, caches of QEMU's making, or none. */
function addCache(cpu: CpuSection, plan: MachinePlan): void {
  const cache = cpu.child("cache");
  if (cache === undefined) return;
  const level = cache.number("level");
  switch (cache.oneOf("mode", ["emulate", "passthrough", "disable"])) {
    case "emulate":
      if (level !== 3) throw cache.refuse("level", "only the third level can be emulated");
      return plan.setCpu(undefined, { "l3-cache": true });
    case "passthrough":
      if (level !== undefined) throw cache.refuse("level", "the host's caches are passed on as a whole");
      return plan.setCpu(undefined, { "host-cache-info": true, "l3-cache": false });
    case "disable":
      if (level !== undefined) throw cache.refuse("level", "caches are left out as a whole");
      return plan.setCpu(undefined, { "host-cache-info": false, "l3-cache": false });
    case undefined:
      throw cache.refuse("mode", "it must be given");
  }
}

/** Bits that the guest's kernel sets and clears itself; QEMU has no names for them. */
const setByGuest = new Set(["osxsave", "ospke"]);

/** Names that libvirt's CPU map and QEMU spell differently. */
const qemuFeatureNames: Readonly<Record<string, string>> = {
  "sse4.1": "sse4-1",
  "sse4.2": "sse4-2",
  nodeid_msr: "nodeid-msr",
  lahf_lm: "lahf-lm",
  cmp_legacy: "cmp-legacy",
  "3dnowprefetch": "3dnowprefetch",
  fxsr_opt: "fxsr-opt",
  perfctr_core: "perfctr-core",
  perfctr_nb: "perfctr-nb",
  tsc_adjust: "tsc-adjust",
  avx512vbmi: "avx512vbmi",
  invtsc: "invtsc",
};

function addCount(domain: DomainSection, plan: MachinePlan, cpu: CpuSection | undefined): void {
  const vcpu = domain.child("vcpu");
  // Nobody looks for a good place.
  vcpu?.oneOf("placement", ["static"]);
  const count = vcpu?.number("value") ?? 1;
  const enabled = enabledCpus(domain);
  const present = vcpu?.number("current") ?? enabled ?? count;
  if (enabled !== undefined && enabled !== present) {
    throw errors.StackDefinitionRefused(`read vcpus: ${enabled} are enabled, vcpu says that ${present} are there`);
  }
  if (count === 0) throw errors.StackDefinitionRefused("read vcpu: a machine needs at least one");
  if (present > count) throw errors.StackDefinitionRefused(`read vcpu: ${present} present of at most ${count}`);
  const topology = cpu?.child("topology");
  const [sockets, dies, clusters, cores, threads] = (["sockets", "dies", "clusters", "cores", "threads"] as const).map(
    (key) => topology?.number(key),
  );
  const product = (sockets ?? 1) * (dies ?? 1) * (clusters ?? 1) * (cores ?? 1) * (threads ?? 1);
  if (topology !== undefined && product !== count) {
    throw errors.StackDefinitionRefused(`read cpu.topology: it makes ${product} CPUs, vcpu says ${count}`);
  }
  plan.addKeyValues("-smp", `cpus=${present}`, {
    maxcpus: count,
    sockets: sockets ?? (topology === undefined ? count : undefined),
    dies: dies === undefined || dies === 1 ? undefined : dies,
    clusters: clusters === undefined || clusters === 1 ? undefined : clusters,
    cores: cores ?? (topology === undefined ? 1 : undefined),
    threads: threads ?? (topology === undefined ? 1 : undefined),
  });
}

/** Hotpluggable CPUs are listed one by one; those that are enabled are there from the start. */
function enabledCpus(domain: DomainSection): number | undefined {
  const listed = domain.child("vcpus")?.children("vcpus") ?? [];
  // No CPU is taken out again, so it does not matter which ones could be, and in which order.
  for (const vcpu of listed) vcpu.skip("hotpluggable", "order");
  const states = listed.map((vcpu, index) => ({ id: vcpu.number("id") ?? index, on: vcpu.toggle("enabled") ?? true }));
  const enabled = states.filter(({ on }) => on);
  const gap = states.find(({ id, on }) => on !== id < enabled.length);
  if (gap !== undefined) {
    throw errors.StackDefinitionRefused("read vcpus: only the first ones can be enabled, without a gap");
  }
  return listed.length === 0 ? undefined : enabled.length;
}
