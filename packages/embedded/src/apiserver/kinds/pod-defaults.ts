import { isJsonObject, valueAt, type JsonObject } from "../json.ts";

/** What Kubernetes fills into a pod specification, also inside the templates of workloads. */
export function defaultPodSpec(spec: JsonObject): void {
  fill(spec, {
    restartPolicy: "Always",
    terminationGracePeriodSeconds: 30,
    dnsPolicy: "ClusterFirst",
    securityContext: {},
    schedulerName: "default-scheduler",
  });
  for (const list of ["containers", "initContainers", "ephemeralContainers"]) {
    for (const container of objectsIn(spec[list])) defaultContainer(container);
  }
  for (const volume of objectsIn(spec["volumes"])) defaultVolume(volume);
}

export function fill(target: JsonObject, defaults: JsonObject): void {
  for (const [key, value] of Object.entries(defaults)) {
    if (target[key] === undefined || target[key] === "") target[key] = isJsonObject(value) ? { ...value } : value;
  }
}

export const objectsIn = (list: unknown): JsonObject[] => (Array.isArray(list) ? list.filter(isJsonObject) : []);

function defaultContainer(container: JsonObject): void {
  const image = typeof container["image"] === "string" ? container["image"] : "";
  fill(container, {
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
    imagePullPolicy: usesLatest(image) ? "Always" : "IfNotPresent",
  });
  for (const port of objectsIn(container["ports"])) fill(port, { protocol: "TCP" });
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    if (isJsonObject(container[probe])) defaultProbe(container[probe]);
  }
  for (const hook of ["postStart", "preStop"]) defaultHandler(valueAt(container, "lifecycle", hook));
  for (const variable of objectsIn(container["env"])) {
    const fieldRef = valueAt(variable, "valueFrom", "fieldRef");
    if (isJsonObject(fieldRef)) fill(fieldRef, { apiVersion: "v1" });
    const resourceRef = valueAt(variable, "valueFrom", "resourceFieldRef");
    if (isJsonObject(resourceRef)) fill(resourceRef, { divisor: "0" });
  }
}

/** What a container may use at most is what it asks for, unless it says otherwise; in pods only, not in templates. */
export function defaultRequests(spec: JsonObject): void {
  for (const list of ["containers", "initContainers"]) {
    for (const container of objectsIn(spec[list])) {
      const { resources } = container;
      const limits = valueAt(resources, "limits");
      if (!isJsonObject(limits) || !isJsonObject(resources)) continue;
      const { requests } = resources;
      resources["requests"] = { ...limits, ...(isJsonObject(requests) ? requests : {}) };
    }
  }
}

function usesLatest(image: string): boolean {
  if (image.includes("@")) return false;
  const tag = /:([^:/]+)$/.exec(image)?.[1];
  return tag === undefined || tag === "latest";
}

function defaultProbe(probe: JsonObject): void {
  fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 });
  defaultHandler(probe);
}

function defaultHandler(handler: unknown): void {
  const httpGet = valueAt(handler, "httpGet");
  if (isJsonObject(httpGet)) fill(httpGet, { path: "/", scheme: "HTTP" });
  const grpc = valueAt(handler, "grpc");
  if (isJsonObject(grpc) && grpc["service"] === undefined) grpc["service"] = "";
}

const volumeTypes = new Set(["name"]);

function defaultVolume(volume: JsonObject): void {
  if (Object.keys(volume).every((key) => volumeTypes.has(key))) volume["emptyDir"] = {};
  for (const source of ["secret", "configMap", "downwardAPI", "projected"]) {
    if (isJsonObject(volume[source])) fill(volume[source], { defaultMode: 0o644 });
  }
  const hostPath = volume["hostPath"];
  if (isJsonObject(hostPath) && hostPath["type"] === undefined) hostPath["type"] = "";
  const image = volume["image"];
  if (isJsonObject(image)) {
    const reference = typeof image["reference"] === "string" ? image["reference"] : "";
    fill(image, { pullPolicy: usesLatest(reference) ? "Always" : "IfNotPresent" });
  }
  for (const source of objectsIn(valueAt(volume, "projected", "sources"))) {
    const token = source["serviceAccountToken"];
    if (isJsonObject(token)) fill(token, { expirationSeconds: 3600 });
    defaultDownwardItems(valueAt(source, "downwardAPI", "items"));
  }
  defaultDownwardItems(valueAt(volume, "downwardAPI", "items"));
}

function defaultDownwardItems(items: unknown): void {
  for (const item of objectsIn(items)) {
    if (isJsonObject(item["fieldRef"])) fill(item["fieldRef"], { apiVersion: "v1" });
    if (isJsonObject(item["resourceFieldRef"])) fill(item["resourceFieldRef"], { divisor: "0" });
  }
}
