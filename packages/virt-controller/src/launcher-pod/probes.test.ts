import type { VirtualMachineInstance } from "@polyvirt/api";
import { describe, expect, it } from "vitest";
import { guestProbes } from "./probes.ts";

const vmi = (
  spec: Pick<VirtualMachineInstance["spec"], "livenessProbe" | "readinessProbe">,
): VirtualMachineInstance => ({
  metadata: { name: "web", namespace: "shop" },
  spec: { domain: { devices: {} }, ...spec },
});

describe("guestProbes", () => {
  it("leaves it to the kubelet to reach the guest at the pod's address", () => {
    const readinessProbe = { tcpSocket: { port: 22 }, initialDelaySeconds: 5, timeoutSeconds: 3 };
    expect(guestProbes(vmi({ readinessProbe }))).toEqual({ readinessProbe });
    expect(guestProbes(vmi({}))).toEqual({});
  });

  it("asks inside the guest by a command of the launcher's image", () => {
    const readinessProbe = {
      exec: { command: ["cat", "-n", "/ready"] },
      initialDelaySeconds: 5,
      periodSeconds: 3,
      timeoutSeconds: 4,
    };
    const livenessProbe = { guestAgentPing: {}, failureThreshold: 2 };
    expect(guestProbes(vmi({ readinessProbe, livenessProbe }))).toEqual({
      readinessProbe: {
        exec: {
          command: "virt-probe --domainName shop_web --timeoutSeconds 4 --command cat -- -n /ready".split(" "),
        },
        initialDelaySeconds: 15,
        periodSeconds: 3,
        timeoutSeconds: 5,
      },
      livenessProbe: {
        exec: { command: "virt-probe --domainName shop_web --timeoutSeconds 1 --guestAgentPing".split(" ") },
        initialDelaySeconds: 10,
        failureThreshold: 2,
        timeoutSeconds: 2,
      },
    });
  });
});
