/**
 * The direction of imports (ARCHITECTURE.md, "Rings"), as data. A package imports only from rings above its own (smaller
 * numbers), and inside its ring only where `beside` says so.
 */
interface PackageRule {
  readonly ring: number;
  /** Packages of the same ring that it may import. */
  readonly beside?: readonly string[];
  /** If given, the only specifiers of that package which may be imported. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
  /** Pure packages run in the CLI and the browser alike: no Node modules outside tests and generators. */
  readonly pure?: true;
  /** Black-box packages may import nothing of the project except these. */
  readonly blackBox?: readonly string[];
}

export const packageRules: Readonly<Record<string, PackageRule>> = {
  core: { ring: 0, pure: true },
  api: { ring: 1, pure: true },
  cel: { ring: 1, pure: true },
  domain: { ring: 1, pure: true },
  // Its gRPC adapter needs a transport, so it is not pure.
  protocol: { ring: 1 },
  hypervisor: { ring: 2, pure: true },
  kube: { ring: 3 },
  host: { ring: 3 },
  stack: { ring: 4 },
  "stack-qemu": { ring: 4, beside: ["stack"] },
  "stack-libvirt": { ring: 4, beside: ["stack"] },
  // Knows no VM words: of `api` and `protocol` it sees Kubernetes' own types only.
  embedded: {
    ring: 4,
    only: { api: ["@polyvirt/api/k8s"], protocol: ["@polyvirt/protocol/device-plugin"] },
  },
  "virt-operator": { ring: 5 },
  "virt-api": { ring: 5 },
  "virt-controller": { ring: 5 },
  "virt-handler": { ring: 5 },
  "virt-launcher": { ring: 5 },
  cli: { ring: 6 },
  // What it tests it starts as programs; `cel` and `api` only tell it the strict form of an expression and our definitions.
  e2e: { ring: 7, blackBox: ["core", "cel", "api"] },
  // Starts the servers that it compares the way the black-box tests do.
  bench: { ring: 7, beside: ["e2e"] },
};
