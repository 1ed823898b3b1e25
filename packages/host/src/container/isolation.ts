import { unlimitableResources } from "./cgroup.ts";

/** What separates containers from the machine and from each other elsewhere, and does not here; nothing as root. */
export function isolationGaps(): string[] {
  const unlimitable = unlimitableResources();
  return [
    ...(process.getuid?.() === 0
      ? []
      : [
          "containers run with the rights of the user who started the cluster, whatever user they ask for",
          "block devices, volumes in memory and shared process namespaces are refused",
        ]),
    ...(unlimitable.length === 0
      ? []
      : [`limits of ${unlimitable.join(" and ")} are not enforced, because no control group can be made for them`]),
  ];
}
