import { afterAll, beforeAll, expect, it } from "vitest";

import { createManualClock } from "@polyvirt/core/testing";

import { startTestServer, type TestServer } from "../testing/test-server.ts";

const clock = createManualClock();
let test: TestServer;
beforeAll(async () => {
  test = await startTestServer({ clock });
});
afterAll(() => test.stop());

it("has events in both forms with one content", async () => {
  const newer = {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { name: "e1", namespace: "default" },
    eventTime: "2026-01-01T00:00:00.000000Z",
    regarding: { kind: "Pod", name: "p", namespace: "default" },
    reportingController: "example.com/c",
    reportingInstance: "c-1",
    action: "Looking",
    reason: "Seen",
    note: "it was there",
    type: "Normal",
  };
  const created = await test.request("POST", "/apis/events.k8s.io/v1/namespaces/default/events", newer);
  expect(created.json).toMatchObject(newer);
  const old = await test.request("GET", "/api/v1/namespaces/default/events/e1");
  expect(old.json).toMatchObject({
    apiVersion: "v1",
    involvedObject: { name: "p" },
    message: "it was there",
    reportingComponent: "example.com/c",
    reason: "Seen",
  });
  const list = await test.request(
    "GET",
    "/apis/events.k8s.io/v1/namespaces/default/events?fieldSelector=regarding.name%3Dp",
  );
  expect(list.json.items).toMatchObject([{ note: "it was there", regarding: { name: "p" } }]);
});

it("forgets events that nobody touched for an hour", async () => {
  await test.request("POST", "/api/v1/namespaces/default/events", {
    metadata: { name: "old" },
    involvedObject: { kind: "Pod", name: "p", namespace: "default" },
  });
  await clock.advance(30 * 60_000);
  expect((await test.request("GET", "/api/v1/namespaces/default/events/old")).status).toBe(200);
  await clock.advance(32 * 60_000);
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect((await test.request("GET", "/api/v1/namespaces/default/events/old")).status).toBe(404);
});
