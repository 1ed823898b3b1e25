import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { startHttps, type TestHttps } from "../testing/test-https.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";

interface Review {
  request: {
    uid: string;
    operation: string;
    name: string;
    namespace: string;
    dryRun: boolean;
    userInfo: { username: string };
    object: { metadata: { name: string; labels?: Record<string, string> }; data?: Record<string, string> } | null;
    oldObject: unknown;
    resource: { resource: string };
  };
}

type Respond = (review: Review) => object | "hang" | "garbage" | "lost";

describe("admission webhooks", () => {
  let test: TestServer;
  let hook: TestHttps;
  let respond: Respond;
  let seen: Review[];
  const base = "/apis/admissionregistration.k8s.io/v1";
  const configMaps = "/api/v1/namespaces/default/configmaps";

  beforeAll(async () => {
    test = await startTestServer();
    hook = await startHttps(["hook.default.svc"], (_request, body, response) => {
      const review = JSON.parse(body) as Review;
      seen.push(review);
      const answer = respond(review);
      if (answer === "hang") return;
      if (answer === "lost") return void response.destroy();
      if (answer === "garbage") response.end("not json");
      else {
        response.end(
          JSON.stringify({
            apiVersion: "admission.k8s.io/v1",
            kind: "AdmissionReview",
            response: { uid: review.request.uid, ...answer },
          }),
        );
      }
    });
    await test.request("POST", "/api/v1/namespaces/default/services", {
      metadata: { name: "hook" },
      spec: { ports: [{ port: 443, targetPort: hook.port }] },
    });
    await test.request("POST", "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices", {
      metadata: { name: "hook-1", labels: { "kubernetes.io/service-name": "hook" } },
      addressType: "IPv4",
      ports: [{ port: hook.port }],
      endpoints: [{ addresses: ["127.0.0.1"], conditions: { ready: true } }],
    });
  });
  afterAll(async () => {
    await hook.close();
    await test.stop();
  });
  beforeEach(() => {
    seen = [];
    respond = () => ({ allowed: true });
  });
  afterEach(async () => {
    for (const plural of ["mutatingwebhookconfigurations", "validatingwebhookconfigurations"]) {
      await test.request("DELETE", `${base}/${plural}`);
    }
    await test.request("DELETE", configMaps);
  });

  const install = async (kind: "mutating" | "validating", name: string, webhook: object = {}, byUrl = false) => {
    const clientConfig = byUrl
      ? { url: `https://127.0.0.1:${hook.port}/hook`, caBundle: hook.caBundle }
      : { service: { namespace: "default", name: "hook", path: "/hook" }, caBundle: hook.caBundle };
    const answer = await test.request("POST", `${base}/${kind}webhookconfigurations`, {
      metadata: { name },
      webhooks: [
        {
          name: `${name}.example.com`,
          clientConfig,
          rules: [
            {
              apiGroups: [""],
              apiVersions: ["v1"],
              resources: ["configmaps"],
              operations: ["CREATE", "UPDATE", "DELETE"],
            },
          ],
          sideEffects: "None",
          admissionReviewVersions: ["v1"],
          ...webhook,
        },
      ],
    });
    expect(answer.text).toContain("uid");
  };
  const patch = (operations: object[]) => ({
    allowed: true,
    patchType: "JSONPatch",
    patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
  });
  const create = (name: string, extra: object = {}, query = "") =>
    test.request("POST", `${configMaps}${query}`, { metadata: { name, ...extra } });

  it.each([false, true])("lets a webhook change what is created (by URL: %s)", async (byUrl) => {
    await install("mutating", "m", {}, byUrl);
    respond = () => patch([{ op: "add", path: "/data", value: { from: "webhook" } }]);
    const answer = await create("changed");
    expect(answer.json).toMatchObject({ data: { from: "webhook" } });
    expect(seen[0]?.request).toMatchObject({
      operation: "CREATE",
      name: "changed",
      namespace: "default",
      userInfo: { username: "admin" },
      oldObject: null,
      resource: { resource: "configmaps" },
    });
  });

  it("are asked again when the connection of an earlier call has ended, and only then", async () => {
    await install("validating", "restarted");
    expect((await create("first")).status).toBe(201);
    respond = () => (seen.length === 2 ? "lost" : { allowed: true });
    expect((await create("second")).status).toBe(201);
    expect(seen).toHaveLength(3);
    respond = () => "lost";
    expect(await create("third")).toMatchObject({
      status: 500,
      json: { message: expect.stringContaining("failed to call webhook") as string },
    });
    expect(seen).toHaveLength(5);
  });

  it("asks the mutating ones in the order of their names, then again where someone changed the object behind them", async () => {
    await install("mutating", "a-first", { reinvocationPolicy: "IfNeeded" });
    await install("mutating", "b-second");
    const calls: string[] = [];
    respond = ({ request }) => {
      const keys = Object.keys(request.object?.metadata.labels ?? {});
      calls.push(keys.join("+"));
      return keys.includes("one")
        ? patch([{ op: "add", path: "/metadata/labels/two", value: "2" }])
        : patch([{ op: "add", path: "/metadata/labels", value: { one: "1" } }]);
    };
    const answer = await create("ordered");
    expect(calls).toEqual(["", "one", "one+two"]);
    expect(answer.json.metadata.labels).toEqual({ one: "1", two: "2" });
  });

  it("refuses with the webhook's own words and code", async () => {
    await install("validating", "v");
    respond = () => ({ allowed: false, status: { code: 422, message: "no blue things" } });
    expect(await create("refused")).toMatchObject({
      status: 422,
      json: { message: 'admission webhook "v.example.com" denied the request: no blue things' },
    });
    respond = () => ({ allowed: false });
    expect(await create("refused")).toMatchObject({
      status: 400,
      json: { message: 'admission webhook "v.example.com" denied the request without explanation' },
    });
  });

  it("passes warnings on and tells about dry runs", async () => {
    await install("validating", "v");
    respond = () => ({ allowed: true, warnings: ["beware"] });
    const answer = await create("warned", {}, "?dryRun=All");
    expect(answer.headers["warning"]).toBe('299 - "beware"');
    expect(seen[0]?.request.dryRun).toBe(true);
    expect((await test.request("GET", `${configMaps}/warned`)).status).toBe(404);
  });

  it("sees deletions with the object that goes", async () => {
    await create("doomed");
    await install("validating", "v", {
      rules: [{ apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], operations: ["DELETE"] }],
    });
    respond = () => ({ allowed: false, status: { message: "it stays" } });
    expect((await test.request("DELETE", `${configMaps}/doomed`)).status).toBe(400);
    expect(seen[0]?.request).toMatchObject({
      operation: "DELETE",
      name: "doomed",
      object: null,
      oldObject: { metadata: { name: "doomed" } },
    });
  });

  it("asks only for what the selectors select", async () => {
    await install("validating", "v", {
      objectSelector: { matchLabels: { checked: "yes" } },
      namespaceSelector: {
        matchExpressions: [{ key: "kubernetes.io/metadata.name", operator: "In", values: ["default"] }],
      },
    });
    await create("plain");
    await create("labelled", { labels: { checked: "yes" } });
    await test.request("POST", "/api/v1/namespaces/kube-public/configmaps", {
      metadata: { name: "elsewhere", labels: { checked: "yes" } },
    });
    expect(seen.map(({ request }) => request.name)).toEqual(["labelled"]);
  });

  it("fails or goes on when the webhook hangs, lies or is not there, as its policy says", async () => {
    const outcomes: Record<string, number> = {};
    for (const failurePolicy of ["Fail", "Ignore"]) {
      await install("validating", `v-${failurePolicy.toLowerCase()}`, { failurePolicy, timeoutSeconds: 1 });
      respond = () => "hang";
      outcomes[`${failurePolicy} hang`] = (await create(`hang-${failurePolicy.toLowerCase()}`)).status;
      respond = () => "garbage";
      outcomes[`${failurePolicy} garbage`] = (await create(`garbage-${failurePolicy.toLowerCase()}`)).status;
      await test.request("DELETE", `${base}/validatingwebhookconfigurations`);
    }
    expect(outcomes).toEqual({ "Fail hang": 500, "Fail garbage": 500, "Ignore hang": 201, "Ignore garbage": 201 });
    await install("validating", "gone", {
      clientConfig: { service: { namespace: "default", name: "nobody" }, caBundle: hook.caBundle },
    });
    const answer = await create("gone");
    expect(answer.json.message).toMatch(
      /failed calling webhook "gone.example.com": .*service "default\/nobody" not found/,
    );
  });

  it("does not believe a server that another authority signed", async () => {
    const other = await startHttps(["hook.default.svc"], (_request, _body, response) => response.end("{}"));
    await install("validating", "v", {
      clientConfig: { service: { namespace: "default", name: "hook" }, caBundle: other.caBundle },
    });
    expect((await create("mistrust")).json.message).toMatch(/failed calling webhook/);
    expect(seen).toEqual([]);
    await other.close();
  });
});
