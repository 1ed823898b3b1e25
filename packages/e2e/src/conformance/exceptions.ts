/** Differences that are meant. Each title is a heading of docs/reference/kubernetes-differences.md, which tells users why. */
interface Exception {
  readonly title: string;
  /** Whether it explains a line that one server says (`- ` Kubernetes, `+ ` embedded) in answer to a call. */
  readonly covers: (statement: string, call: string, line: string) => boolean;
}

const inStatement =
  (pattern: RegExp, line: RegExp, call = /^/): Exception["covers"] =>
  (statement, asked, text) =>
    pattern.test(statement) && call.test(asked) && line.test(text);

export const exceptions: readonly Exception[] = [
  { title: "Kinds", covers: inStatement(/^discovery$/, /^- /, /api-(resources|versions)/) },
  {
    title: "Kinds",
    covers: inStatement(/^(describe|get-more-columns)$/, /quota|LimitRange|requested resource|exit code|^- *$/i),
  },
  { title: "Unknown paths", covers: inStatement(/^(discovery|crd-deletion)$/, /./, /^GET \/apis\//) },
  { title: "Strangers", covers: inStatement(/^forbidden$/, /./, /^GET/) },
  { title: "Services", covers: inStatement(/./, /ClusterIP +(<ip>|None)/) },
  { title: "Storage protection", covers: inStatement(/./, /Finalizers: +\[/, /describe pvc/) },
  { title: "Descriptions", covers: inStatement(/^explain$/, /./, /explain (pod|deployment)/) },
  {
    title: "Descriptions",
    covers: inStatement(/^tables$/, /"description": |"object": null|^[-+] +\],?$|"type": "integer"/),
  },
  { title: "Version", covers: inStatement(/^discovery$/, /./, /GET \/version/) },
  {
    title: "Words about what cannot be read",
    covers: inStatement(/^patch-json$/, /due to an error in our request|error decoding patch: /, /--type=json/),
  },
  {
    title: "Words about what cannot be read",
    covers: inStatement(/^webhook-refusals$/, /Internal error occurred: |"\/nope/, /^POST/),
  },
  { title: "Words about what cannot be read", covers: inStatement(/^paging$/, /continue key is/, /continue=nonsense/) },
  {
    title: "Objects inside messages",
    covers: inStatement(/^patch-refused$/, /patch: Invalid value: "\{.*cannot unmarshal string into Go struct field/),
  },
  { title: "Objects inside messages", covers: inStatement(/^immutable$/, /^- [@ +-]|^- *$/, /patch pod/) },
  {
    title: "Objects inside messages",
    covers: inStatement(
      /^crd-invalid$/,
      /x-kubernetes-validations\[0\]\.rule: Invalid value: .*undefined field 'sise'/,
    ),
  },
  {
    title: "Objects inside messages",
    covers: inStatement(/^crd-invalid$/, /exactly one version marked as storage|status\.storedVersions|is invalid: *$/),
  },
  { title: "Storage of objects", covers: inStatement(/^malformed$/, /Precondition failed: UID in precondition: 0/) },
  { title: "Protobuf", covers: inStatement(/^malformed$/, /Available representations/) },
  {
    title: "The cluster's certificate authority",
    covers: (_statement, _call, line) =>
      /annotations"|kubernetes\.io\/description|"manager": "kube-(controller-manager|apiserver)"|f:metadata"/.test(
        line,
      ),
  },
];
