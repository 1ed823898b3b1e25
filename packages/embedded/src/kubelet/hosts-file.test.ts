import { expect, it } from "vitest";
import { hostsFile } from "./hosts-file.ts";

it("a pod's hosts file names the pod, in its subdomain, and what it asks for", () => {
  const text = hostsFile(
    {
      metadata: { name: "web-0", namespace: "shop" },
      spec: {
        subdomain: "web",
        hostAliases: [{ ip: "10.1.2.3", hostnames: ["db", "db.example"] }, { ip: "10.1.2.4" }],
        containers: [],
      },
    },
    "10.9.0.1",
  );
  expect(text.split("\n").slice(3)).toEqual([
    "10.9.0.1\tweb-0.web.shop.svc.cluster.local\tweb-0",
    "10.1.2.3\tdb\tdb.example",
    "10.1.2.4",
    "",
  ]);
});
