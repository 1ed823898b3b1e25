import type { Pod, Service } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import { endpointSlices } from "./endpoint-slice-plan.ts";

const service: Service = {
  metadata: { name: "s", namespace: "ns", uid: "u" },
  spec: { selector: { app: "x" }, ports: [{ port: 443, targetPort: "https" }] },
};

function pod(
  name: string,
  ip: string | undefined,
  more: { ready?: boolean; port?: number; deleted?: boolean } = {},
): Pod {
  return {
    metadata: {
      name,
      uid: name,
      namespace: "ns",
      ...(more.deleted === true ? { deletionTimestamp: "2026-01-01T00:00:00Z" } : {}),
    },
    spec: { nodeName: "n", containers: [{ name: "c", ports: [{ name: "https", containerPort: more.port ?? 8443 }] }] },
    status: {
      phase: "Running",
      ...(ip === undefined ? {} : { podIP: ip }),
      conditions: [{ type: "Ready", status: more.ready === false ? "False" : "True" }],
    },
  };
}

describe("endpointSlices", () => {
  it("lists ready pods with the port that the service means on them", () => {
    expect(endpointSlices(service, [pod("b", "127.0.0.2"), pod("a", "127.0.0.1")])).toMatchObject([
      {
        metadata: {
          name: "s-0",
          labels: { "kubernetes.io/service-name": "s" },
          ownerReferences: [{ kind: "Service", uid: "u" }],
        },
        addressType: "IPv4",
        ports: [{ port: 8443, protocol: "TCP", name: "" }],
        endpoints: [
          { addresses: ["127.0.0.1"], conditions: { ready: true }, nodeName: "n", targetRef: { name: "a", uid: "a" } },
          { addresses: ["127.0.0.2"], conditions: { ready: true } },
        ],
      },
    ]);
  });

  it("tells who is not ready, is ending, or has no address", () => {
    const pods = [
      pod("a", "127.0.0.1", { ready: false }),
      pod("b", "127.0.0.2", { deleted: true }),
      pod("c", undefined),
    ];
    const [slice] = endpointSlices(service, pods);
    expect(slice?.endpoints.map(({ conditions }) => conditions)).toEqual([
      { ready: false, serving: false, terminating: false },
      { ready: false, serving: true, terminating: true },
    ]);
  });

  it("publishes pods that are not ready when the service says so", () => {
    const open: Service = { ...service, spec: { ...service.spec, publishNotReadyAddresses: true } };
    expect(endpointSlices(open, [pod("a", "127.0.0.1", { ready: false })])[0]?.endpoints[0]?.conditions?.ready).toBe(
      true,
    );
  });

  it("makes a slice of their own for pods with other port numbers", () => {
    const slices = endpointSlices(service, [pod("a", "127.0.0.1"), pod("b", "127.0.0.2", { port: 9443 })]);
    expect(slices.map(({ ports }) => ports?.[0]?.port)).toEqual([8443, 9443]);
  });

  it("splits large services", () => {
    const many = Array.from({ length: 250 }, (_, index) => pod(`p${index}`, `127.0.1.${index}`));
    expect(endpointSlices(service, many).map(({ endpoints }) => endpoints.length)).toEqual([100, 100, 50]);
  });
});
