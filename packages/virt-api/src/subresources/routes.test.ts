import { describe, expect, it } from "vitest";
import { discoveryDocument } from "./discovery.ts";
import { matchRoute, subresourceRoutes } from "./routes.ts";

describe("matchRoute", () => {
  it("finds the route, the object and the parameters", () => {
    expect(matchRoute("GET", "/namespaces/ns/virtualmachineinstances/web/portforward/80/tcp")).toMatchObject({
      route: { subresource: "portforward", stream: true },
      namespace: "ns",
      name: "web",
      parameters: { port: "80", protocol: "tcp" },
    });
    expect(matchRoute("GET", "/namespaces/ns/virtualmachineinstances/web/vnc/screenshot")?.route.stream).toBe(false);
  });

  it.each([
    ["PUT", "/namespaces/ns/virtualmachineinstances/web/console"],
    ["GET", "/namespaces/ns/virtualmachineinstances/web"],
    ["GET", "/namespaces/ns/virtualmachineinstances/web/console/extra"],
    ["GET", "/namespaces/ns/pods/web/console"],
  ])("knows no %s %s", (method, path) => {
    expect(matchRoute(method, path)).toBeUndefined();
  });

  it("has no route twice", () => {
    const keys = subresourceRoutes.map(({ method, resource, path }) => `${method} ${resource} ${path}`);
    expect(new Set(keys).size).toBe(keys.length);
  });
});

describe("discoveryDocument", () => {
  it("lists what is served, in both versions", () => {
    for (const version of ["v1", "v1alpha3"]) {
      expect(discoveryDocument(`/apis/subresources.kubevirt.io/${version}`)).toMatchObject({
        kind: "APIResourceList",
        groupVersion: `subresources.kubevirt.io/${version}`,
        resources: expect.arrayContaining([
          { name: "virtualmachineinstances/console", singularName: "", namespaced: true, kind: "", verbs: ["get"] },
        ]),
      });
    }
    expect(discoveryDocument("/apis/subresources.kubevirt.io/v2")).toBeUndefined();
  });
});
