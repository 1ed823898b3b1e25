import { pods, type Pod } from "@polyvirt/api/k8s";
import { describe, expect, it } from "vitest";
import type { KubeClient } from "../client/kube-client.ts";
import { createObjectWriter } from "./object-writer.ts";

function setUp() {
  const cache = new Map<string, Pod>();
  const sent: unknown[] = [];
  let version = 10;
  const client = {
    patch: async (_type: unknown, name: string, namespace: string, request: { body: object; subresource?: string }) => {
      sent.push(request);
      version++;
      return pod(String(version), (request.body as { status?: Pod["status"] }).status ?? {}, name, namespace);
    },
  } as unknown as Pick<KubeClient, "patch">;
  const writer = createObjectWriter({ client, type: pods, informer: { get: (key) => cache.get(key) } });
  return { cache, sent, writer };
}

function pod(resourceVersion: string, status: Pod["status"] = {}, name = "a", namespace = "default"): Pod {
  return { metadata: { name, namespace, resourceVersion }, spec: { containers: [] }, status };
}

describe("createObjectWriter", () => {
  it("answers from the cache as long as nothing was written", () => {
    const { cache, writer } = setUp();
    const cached = pod("10");
    cache.set("default/a", cached);
    expect(writer.get("default/a")).toBe(cached);
    expect(writer.get("default/b")).toBeUndefined();
  });

  it("answers with its own writes until the cache has caught up", async () => {
    const { cache, writer } = setUp();
    cache.set("default/a", pod("10"));
    const labelled = await writer.writeMetadata(pod("10"), { labels: { x: "y" } });
    const written = await writer.writeStatus(labelled, { phase: "Running" });
    expect(writer.get("default/a")).toBe(written);
    cache.set("default/a", pod("11"));
    expect(writer.get("default/a")).toBe(written);
    const caughtUp = pod("12", { phase: "Running" });
    cache.set("default/a", caughtUp);
    expect(writer.get("default/a")).toBe(caughtUp);
  });

  it("believes the cache when someone else has written", async () => {
    const { cache, writer } = setUp();
    await writer.writeStatus(pod("10"), { phase: "Running" });
    const other = pod("15", { phase: "Failed" });
    cache.set("default/a", other);
    expect(writer.get("default/a")).toBe(other);
    cache.set("default/a", pod("10"));
    expect(writer.get("default/a")?.metadata.resourceVersion).toBe("10");
  });

  it("writes only what differs, on top of the version it knows", async () => {
    const { sent, writer } = setUp();
    const before = pod("10", { phase: "Pending", podIP: "10.0.0.1" });
    expect(await writer.writeStatus(before, { phase: "Pending", podIP: "10.0.0.1" })).toBe(before);
    await writer.writeStatus(before, { phase: "Running" });
    expect(sent).toEqual([
      {
        type: "merge",
        subresource: "status",
        body: { metadata: { resourceVersion: "10" }, status: { phase: "Running", podIP: null } },
      },
    ]);
  });

  it("forgets objects that are gone", async () => {
    const { cache, writer } = setUp();
    await writer.writeStatus(pod("10"), { phase: "Running" });
    expect(writer.get("default/a")).toBeUndefined();
    const again = pod("10");
    cache.set("default/a", again);
    expect(writer.get("default/a")).toBe(again);
  });
});
